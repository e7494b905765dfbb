//! Why no connection came about, in the words of ssh, and what can be done.

use hermes_exec::environment::{Exit, StartFailure};

use crate::options::Options;

/// Bytes of the words that are kept, the last ones.
const KEPT: usize = 4 * 1024;

/// Characters of them that are shown.
const SHOWN: usize = 600;

/// The last words on a stream.
#[derive(Debug, Default)]
pub(crate) struct Words {
    bytes: Vec<u8>,
}

impl Words {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * KEPT {
            self.bytes.drain(..self.bytes.len() - KEPT);
        }
    }

    /// As one line.
    pub(crate) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let clean = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
        let lines: Vec<String> = text.lines().map(|line| clean(line).trim().to_owned()).collect();
        // Frames of signs around a warning say nothing.
        let says = |line: &&String| line.chars().any(char::is_alphanumeric);
        let line = lines.iter().filter(says).cloned().collect::<Vec<_>>().join("; ");
        let skipped = line.chars().count().saturating_sub(SHOWN);
        line.chars().skip(skipped).collect()
    }
}

/// What a failed attempt means.
pub(crate) fn of(options: &Options, said: &str, exit: Option<&Exit>) -> StartFailure {
    let name = options.name();
    let said = if said.is_empty() { "ssh said nothing" } else { said };
    let message = |advice: &str| format!("no ssh connection to {name}: {said}{advice}");
    let has = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    if has(&["HOST IDENTIFICATION HAS CHANGED", "Host key verification failed"]) {
        let entry = match options.port {
            22 => options.host.clone(),
            port => format!("'[{}]:{port}'", options.host),
        };
        return StartFailure::new(message(&format!(
            ". The key that the host shows isn't the known one. If that is expected, forget the \
             old one with `ssh-keygen -R {entry}`"
        )));
    }
    if has(&["UNPROTECTED PRIVATE KEY", "bad permissions"]) {
        return StartFailure::new(message(". Close the key to others: `chmod 600` it"));
    }
    if has(&["Permission denied (", "Too many authentication failures"]) {
        return StartFailure::new(message(
            ". Logging in must work without a question (BatchMode): name a key in \
             terminal.ssh_key or load it into ssh-agent, and have its public half in \
             ~/.ssh/authorized_keys of the host",
        ));
    }
    if has(&["Could not resolve hostname"]) {
        return match has(&["Temporary failure"]) {
            true => StartFailure::passing(message("")),
            false => StartFailure::new(message(". Check terminal.ssh_host")),
        };
    }
    // What is said of the shared connection's socket is another matter.
    let is_of_host = has(&["connect to host"]);
    if is_of_host && has(&["Connection refused"]) {
        return StartFailure::new(message(". Is a server running there, on that port?"));
    }
    if is_of_host && has(&["No route to host", "Network is unreachable", "Host is down"]) {
        return StartFailure::new(message(". Check terminal.ssh_host and the network"));
    }
    if has(PASSING) {
        return StartFailure::passing(message(""));
    }
    match exit {
        // ssh itself ends with 255; everything else is the login shell's.
        Some(Exit::Code(code @ 0..=254)) => StartFailure::new(format!(
            "the login shell on {name} ended with code {code} before it ran anything: {said}"
        )),
        _ => StartFailure::new(message("")),
    }
}

/// Parts of ssh's words about a network or a server that may do better next time.
const PASSING: &[&str] = &[
    "timed out",
    "Timeout",
    "Connection refused",
    "Connection reset",
    "Connection closed",
    "closed by remote host",
    "kex_exchange_identification",
    "Broken pipe",
    "Session open refused",
];

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn failure(said: &str, code: i32) -> StartFailure {
        of(&Options::new("u", "h", []), said, Some(&Exit::Code(code)))
    }

    #[test]
    fn what_may_pass_is_tried_again() {
        for (said, may_pass) in [
            ("ssh: connect to host h port 22: Connection refused", false),
            ("Control socket connect(/x): Connection refused", true),
            ("ssh: connect to host h port 22: No route to host", false),
            ("ssh: connect to host h port 22: Connection timed out", true),
            ("kex_exchange_identification: Connection closed by remote host", true),
            ("ssh: Could not resolve hostname h: Temporary failure in name resolution", true),
            ("ssh: Could not resolve hostname h: Name or service not known", false),
            ("u@h: Permission denied (publickey,password).", false),
            ("Host key verification failed.", false),
            ("command-line: line 0: Bad configuration option: x", false),
            ("", false),
        ] {
            let failure = failure(said, 255);
            assert_eq!(failure.is_safe_to_retry, may_pass, "{said}");
            assert!(failure.message.contains(said), "{said}");
        }
    }

    #[test]
    fn a_login_shell_that_refuses_is_told() {
        let failure = failure("This account is currently not available.", 1);
        assert!(failure.message.starts_with("the login shell on u@h:22 ended with code 1"));
    }

    #[test]
    fn words_are_the_last_ones_in_a_line() {
        let mut words = Words::default();
        words.push(&b"x".repeat(20_000));
        words.push(b"\n@@@@@@\n\x1b[31mred\r\n  end\n");
        let text = words.text();
        assert!(text.ends_with("x; [31mred; end"), "{text}");
        assert_eq!(text.chars().count(), SHOWN);
    }
}
