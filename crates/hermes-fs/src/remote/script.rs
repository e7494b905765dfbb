//! Scripts with paths of any bytes in them.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// About how long a script may get. A system takes one of 128 KiB as an argument.
pub(super) const MAX_SCRIPT: usize = 96 * 1024;

/// What all scripts begin with. Everything they say stands between `@hermes` and `@end`, so that
/// neither a greeting before it nor a cut behind it is taken for an answer.
const START: &str = r#"LC_ALL=C; export LC_ALL; unset IFS CDPATH
say() { printf '@%s\n' "$1"; }
tell() { say "$1"; printf %s "$2" | base64; }
st() { stat -L -c '%s %i %d %Y %y|%f %h %u %g' -- "$1" 2>/dev/null ||
  stat -L -f '%z %i %d %m %Fm|%Xp %l %u %g' -- "$1" 2>/dev/null; }
plain() { d=$(cd -P -- "${1:-/}" 2>/dev/null && pwd -P && echo x) || return 0; [ "$d" = "${1:-/}
x" ]; }
swapped='a symbolic link was put in the way since the path was looked up'
say hermes
"#;

const END: &str = "say end\n";

/// A script while it is written: printable ASCII and line feeds, whatever the paths are.
pub(super) struct Script {
    text: String,
    names: usize,
}

impl Script {
    /// A script that begins with these definitions.
    pub(super) fn new(definitions: &str) -> Self {
        Self { text: format!("{START}{definitions}"), names: 0 }
    }

    /// Bytes as one word. What isn't plain is put into a variable first.
    pub(super) fn word(&mut self, bytes: &[u8]) -> String {
        let is_plain = |byte: &u8| (b' '..=b'~').contains(byte);
        if bytes.iter().all(is_plain) {
            let quoted = String::from_utf8_lossy(bytes).replace('\'', r"'\''");
            return format!("'{quoted}'");
        }
        let mut format = String::new();
        for &byte in bytes {
            // A minus in front would be an option.
            if byte.is_ascii_alphanumeric() || b"/._ ".contains(&byte) {
                format.push(char::from(byte));
            } else {
                let _ = write!(format, "\\{byte:03o}");
            }
        }
        self.names += 1;
        let name = self.names;
        // The letter at the end keeps line feeds before it.
        let _ = writeln!(self.text, "q{name}=$(printf '{format}x'); q{name}=${{q{name}%x}}");
        format!("\"$q{name}\"")
    }

    /// A path as one word.
    pub(super) fn path(&mut self, path: &Path) -> String {
        self.word(&bytes_of(path))
    }

    /// Adds lines.
    pub(super) fn add(&mut self, lines: &str) {
        self.text.push_str(lines);
        self.text.push('\n');
    }

    /// Adds a command with paths behind it.
    pub(super) fn call(&mut self, command: &str, paths: &[&Path]) {
        let words: Vec<String> = paths.iter().map(|path| self.path(path)).collect();
        self.add(&format!("{command} {}", words.join(" ")));
    }

    /// How long it is by now.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The whole script.
    pub(super) fn finish(mut self) -> String {
        self.text.push_str(END);
        self.text
    }
}

/// Cuts a list so that each part fits into a script.
pub(super) fn parts<'p, 'a>(paths: &'p [&'a Path]) -> impl Iterator<Item = &'p [&'a Path]> {
    let mut rest = paths;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut room = MAX_SCRIPT - 8 * 1024;
        // A byte that isn't plain takes four, and each path some words more.
        let fit = rest.iter().take_while(|path| {
            let cost = path.as_os_str().len() * 4 + 64;
            let fits = cost <= room;
            room = room.saturating_sub(cost);
            fits
        });
        let (part, after) = rest.split_at(fit.count().max(1));
        rest = after;
        Some(part)
    })
}

/// The bytes of a path in the environment.
pub(super) fn bytes_of(path: &Path) -> Vec<u8> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        path.as_os_str().as_bytes().to_vec()
    }
    #[cfg(not(unix))]
    {
        path.to_string_lossy().replace('\\', "/").into_bytes()
    }
}

/// A name in the environment.
pub(super) fn name_of(bytes: Vec<u8>) -> OsString {
    #[cfg(unix)]
    {
        std::os::unix::ffi::OsStringExt::from_vec(bytes)
    }
    #[cfg(not(unix))]
    {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}

/// A path in the environment.
pub(super) fn path_of(bytes: Vec<u8>) -> PathBuf {
    name_of(bytes).into()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn words_are_plain_or_variables() {
        let mut script = Script::new("");
        let start = script.len();
        for (bytes, word) in [
            (&b"/a b/-c"[..], "'/a b/-c'"),
            (b"it's $HOME `x` \"\\", r#"'it'\''s $HOME `x` "\'"#),
            (b"", "''"),
            (b"a\n", "\"$q1\""),
            (b"\xFF%", "\"$q2\""),
            ("ä".as_bytes(), "\"$q3\""),
        ] {
            assert_eq!(script.word(bytes), word);
        }
        assert_eq!(
            script.text.get(start..).unwrap(),
            "q1=$(printf 'a\\012x'); q1=${q1%x}\nq2=$(printf '\\377\\045x'); q2=${q2%x}\n\
             q3=$(printf '\\303\\244x'); q3=${q3%x}\n"
        );
        assert!(script.finish().bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)));
    }

    #[test]
    fn lists_are_cut_to_fit() {
        let long = vec![b'x'; 10_000];
        let long = Path::new(OsStr::from_bytes(&long));
        let short = Path::new("/x");
        let sizes = |paths: &[&Path]| parts(paths).map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!(sizes(&[]), Vec::<usize>::new());
        assert_eq!(sizes(&[short; 5]), [5]);
        assert_eq!(sizes(&[long; 5]), [2, 2, 1]);
        assert_eq!(sizes(&[short; 3000]).iter().sum::<usize>(), 3000);
    }
}
