//! What a program's output and exit code mean.

use hermes_exec::program::{Ended, Finished};
use serde_json::Value;

use crate::event::HookEvent;
use crate::hook::{HookError, Reply};
use crate::verdict::DEFAULT_BLOCK;

/// The exit code that blocks.
const BLOCKS: i32 = 2;

/// Characters of a reason on stderr that the model is told.
const MAX_REASON: usize = 2000;

/// Characters of stderr that a failure is logged with.
const MAX_LOGGED: usize = 200;

/// What a text on stdout means as the reply to `event`: nothing, unless it is one JSON object.
#[must_use]
pub fn parse_stdout(event: HookEvent, stdout: &[u8]) -> Reply {
    match serde_json::from_slice(stdout.trim_ascii()) {
        Ok(object @ Value::Object(_)) => Reply::from_value(event, &object),
        _ => Reply::Nothing,
    }
}

/// What a program that was run has to say.
///
/// # Errors
///
/// It did not end by itself, said more than is kept, or failed without a word for us.
pub(super) fn interpret(event: HookEvent, finished: &Finished) -> Result<Reply, HookError> {
    let code = match finished.ended {
        Ended::Exited(code) => code,
        ended => return Err(HookError(format!("it {}", happened(ended)))),
    };
    if code == BLOCKS {
        match event {
            HookEvent::PreToolCall => return Ok(Reply::block(reason(event, finished))),
            HookEvent::PreVerify => {
                let message = reason(event, finished);
                return Ok(Reply::Continue { message });
            }
            _ => {}
        }
    }
    if finished.stdout.dropped > 0 {
        let bytes = finished.stdout.bytes.len() as u64 + finished.stdout.dropped;
        return Err(HookError(format!("it wrote {bytes} bytes to stdout, more than are read")));
    }
    let reply = parse_stdout(event, &finished.stdout.bytes);
    if code == 0 {
        return Ok(reply);
    }
    if reply == Reply::Nothing {
        let stderr = cut(&finished.stderr.text(), MAX_LOGGED);
        let colon = if stderr.is_empty() { "" } else { ": " };
        return Err(HookError(format!("exit code {code}{colon}{stderr}")));
    }
    tracing::debug!(%event, code, "a hook's exit code means nothing beside its reply");
    Ok(reply)
}

fn happened(ended: Ended) -> String {
    match ended {
        Ended::Signaled(_) => format!("was {ended}"),
        Ended::Cancelled => "was stopped".to_owned(),
        ended => ended.to_string(),
    }
}

/// The reason of a program that blocks by its exit code: what it wrote to stderr, else what it
/// may have answered besides.
fn reason(event: HookEvent, finished: &Finished) -> String {
    let stderr = cut(&finished.stderr.text(), MAX_REASON);
    if !stderr.is_empty() {
        return stderr;
    }
    match parse_stdout(event, &finished.stdout.bytes) {
        Reply::Block { message: Some(message) } | Reply::Continue { message } => message,
        _ => DEFAULT_BLOCK.to_owned(),
    }
}

/// The beginning of a text, less the blanks around it.
fn cut(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use hermes_exec::program::Output;
    use pretty_assertions::assert_eq;

    use super::*;

    fn finished(ended: Ended, stdout: &str, stderr: &str) -> Finished {
        let output = |text: &str| Output { bytes: text.into(), dropped: 0 };
        Finished { ended, stdout: output(stdout), stderr: output(stderr) }
    }

    #[test]
    fn only_an_object_is_an_answer() {
        for stdout in ["", " \n", "blocked!", "[]", "\"block\"", "null", "{", "{} {}"] {
            assert_eq!(parse_stdout(HookEvent::PreToolCall, stdout.as_bytes()), Reply::Nothing);
        }
        assert_eq!(parse_stdout(HookEvent::PreToolCall, b"{\"action\":\"\xff\"}"), Reply::Nothing);
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(parse_stdout(HookEvent::PreToolCall, deep.as_bytes()), Reply::Nothing);
        let padded = b"\n {\"action\": \"block\", \"message\": \"no\"}\n";
        assert_eq!(parse_stdout(HookEvent::PreToolCall, padded), Reply::block("no"));
        assert_eq!(parse_stdout(HookEvent::TransformToolResult, b"\"text\""), Reply::Nothing);
    }

    #[test]
    fn exit_code_two_blocks_and_others_are_failures_unless_there_is_an_answer() {
        let at = |event, code, stdout: &str, stderr: &str| {
            interpret(event, &finished(Ended::Exited(code), stdout, stderr))
        };
        let call = HookEvent::PreToolCall;
        let answer = r#"{"action":"block","message":"m"}"#;
        assert_eq!(at(call, 2, "", " no\n"), Ok(Reply::block("no")));
        assert_eq!(at(call, 2, answer, ""), Ok(Reply::block("m")));
        assert_eq!(at(call, 2, "{}", " "), Ok(Reply::block(DEFAULT_BLOCK)));
        assert_eq!(at(call, 1, answer, "x"), Ok(Reply::block("m")));
        assert_eq!(at(call, 1, "{}", "x\n"), Err(HookError("exit code 1: x".into())));
        assert_eq!(at(call, 0, "", "x"), Ok(Reply::Nothing));
        let go_on = Reply::Continue { message: "test it".into() };
        assert_eq!(at(HookEvent::PreVerify, 2, "", "test it"), Ok(go_on));
        assert!(at(HookEvent::PostToolCall, 2, "", "x").is_err());
        let long = at(call, 2, "", &"é".repeat(5000));
        assert!(matches!(long, Ok(Reply::Block { message: Some(m) }) if m.chars().count() == 2001));
        assert!(interpret(call, &finished(Ended::Signaled(11), answer, "")).is_err());
        assert!(interpret(call, &finished(Ended::TimedOut, answer, "")).is_err());
    }
}
