//! What there is to know of another machine.

use super::value;

/// Tells it, a line for each. For any shell.
pub(super) const SCRIPT: &str = r#"echo "os=$(uname -s)"
echo "name=$(. /etc/os-release 2>/dev/null && printf %s "$PRETTY_NAME")"
echo "kernel=$(uname -r)"
echo "user=$(id -un 2>/dev/null || whoami 2>/dev/null || printf %s "$USER")"
echo "home=$HOME"
echo "cwd=$PWD""#;

/// The line for the prompt; none if nothing of it is known.
pub(super) fn line(backend: &str, answer: &str) -> Option<String> {
    let value = |name| value(answer, name);
    let os = match (value("os"), value("name")) {
        (Some(os), Some(name)) => Some(format!("{os} ({name})")),
        (os, name) => os.or(name).map(str::to_owned),
    };
    let named = |what: &str, name| value(name).map(|it| format!("{what} {it}"));
    let parts: Vec<String> = [
        os,
        named("kernel", "kernel"),
        named("user", "user"),
        named("home", "home"),
        named("folder", "cwd"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let text = format!(
        "Commands and file tools work on another machine than this program ({backend}): {}.",
        parts.join(", ")
    );
    (!parts.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn lines() {
        let answer =
            "os=Linux\nname=Debian 12\nkernel=6.1\nuser=root\nhome=/root\ncwd=/workspace\n";
        assert_eq!(
            line("docker", answer).unwrap(),
            "Commands and file tools work on another machine than this program (docker): Linux \
             (Debian 12), kernel 6.1, user root, home /root, folder /workspace."
        );
        let odd = format!("os=\nkernel={}\nuser=a\x1b[2Jb\ncwd=/w\nhome", "x".repeat(300));
        assert!(line("ssh", &odd).unwrap().ends_with("(ssh): folder /w."));
        assert_eq!(line("ssh", "bash: uname: not found"), None);
    }
}
