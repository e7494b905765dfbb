//! A form with files.

/// The type and the bytes of a form that writes `files`, paths and contents.
pub(crate) fn form(files: &[(&str, &[u8])]) -> (String, Vec<u8>) {
    let boundary = format!("hermes-{:032x}", fastrand::u128(..));
    let mut bytes = Vec::new();
    for (at, (path, content)) in files.iter().enumerate() {
        let part = |name: &str| {
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"files[{at}].{name}\"")
        };
        bytes.extend(format!("{}\r\n\r\n{path}\r\n", part("path")).into_bytes());
        let kind = "Content-Type: application/octet-stream";
        let file = format!("{}; filename=\"file{at}\"\r\n{kind}\r\n\r\n", part("file"));
        bytes.extend(file.into_bytes());
        bytes.extend_from_slice(content);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend(format!("--{boundary}--\r\n").into_bytes());
    (format!("multipart/form-data; boundary={boundary}"), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_form_is_written() {
        let (kind, bytes) = form(&[("/tmp/a", b"x\r\ny")]);
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
        let expected = "--B\r\nContent-Disposition: form-data; name=\"files[0].path\"\r\n\r\n\
             /tmp/a\r\n--B\r\nContent-Disposition: form-data; name=\"files[0].file\"; \
             filename=\"file0\"\r\nContent-Type: application/octet-stream\r\n\r\nx\r\ny\r\n--B--\r\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected.replace('B', boundary));
    }
}
