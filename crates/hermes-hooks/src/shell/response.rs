//! What a program's output and exit code mean.

use hermes_exec::program::{Ended, Finished};

use super::stdout::{parse_stdout, understand, without_mark};
use crate::event::HookEvent;
use crate::hook::{HookError, OnError, Reply};
use crate::verdict::DEFAULT_BLOCK;

/// The exit code that blocks.
const BLOCKS: i32 = 2;

/// Characters of a reason on stderr that the model is told.
const MAX_REASON: usize = 2000;

/// Characters of stderr that a failure is logged with.
const MAX_LOGGED: usize = 200;

/// What a program that was run has to say.
///
/// # Errors
///
/// It did not end by itself, said more than is kept, or failed without a word for us. Where its
/// failure blocks calls, also: what it said about one can't be understood.
pub(super) fn interpret(
    event: HookEvent,
    on_error: OnError,
    finished: &Finished,
) -> Result<Reply, HookError> {
    let code = match finished.ended {
        Ended::Exited(code) => code,
        ended => return Err(HookError(format!("it {}", happened(ended)))),
    };
    if code == BLOCKS {
        match event {
            HookEvent::PreToolCall => {
                return Ok(Reply::Block { message: reason(event, finished) });
            }
            HookEvent::PreVerify => {
                let message = reason(event, finished).unwrap_or(DEFAULT_BLOCK.to_owned());
                return Ok(Reply::Continue { message });
            }
            _ => {}
        }
    }
    if finished.stdout.dropped > 0 {
        let bytes = finished.stdout.bytes.len() as u64 + finished.stdout.dropped;
        return Err(HookError(format!("it wrote {bytes} bytes to stdout, more than are read")));
    }
    let stdout = &finished.stdout.bytes;
    let is_strict = on_error == OnError::Block && event == HookEvent::PreToolCall;
    let (reply, doubt) = match understand(event, stdout) {
        Ok(reply) => (reply, None),
        Err(why) if is_strict => (Reply::Nothing, Some(why)),
        Err(why) => (parse_stdout(event, without_mark(stdout)), Some(why)),
    };
    if reply != Reply::Nothing {
        if code != 0 {
            tracing::debug!(%event, code, "a hook's exit code means nothing beside its reply");
        }
        return Ok(reply);
    }
    if code != 0 {
        let stderr = cut(&finished.stderr.text(), MAX_LOGGED);
        let colon = if stderr.is_empty() { "" } else { ": " };
        return Err(HookError(format!("exit code {code}{colon}{stderr}")));
    }
    match doubt {
        Some(why) if is_strict => Err(HookError(why.to_owned())),
        Some(why) => {
            if matches!(event, HookEvent::PreToolCall | HookEvent::PreVerify) {
                let said = cut(&String::from_utf8_lossy(stdout), MAX_LOGGED);
                tracing::warn!(%event, stdout = said, "{why}, so this hook decides nothing");
            }
            Ok(reply)
        }
        None => Ok(reply),
    }
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
fn reason(event: HookEvent, finished: &Finished) -> Option<String> {
    let stderr = cut(&finished.stderr.text(), MAX_REASON);
    if !stderr.is_empty() {
        return Some(stderr);
    }
    match parse_stdout(event, without_mark(&finished.stdout.bytes)) {
        Reply::Block { message } => message,
        Reply::Continue { message } => Some(message),
        _ => None,
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
    fn exit_code_two_blocks_and_others_are_failures_unless_there_is_an_answer() {
        let at = |event, code, stdout: &str, stderr: &str| {
            interpret(event, OnError::Allow, &finished(Ended::Exited(code), stdout, stderr))
        };
        let call = HookEvent::PreToolCall;
        let answer = r#"{"action":"block","message":"m"}"#;
        assert_eq!(at(call, 2, "", " no\n"), Ok(Reply::block("no")));
        assert_eq!(at(call, 2, answer, ""), Ok(Reply::block("m")));
        assert_eq!(at(call, 2, "{}", " "), Ok(Reply::Block { message: None }));
        assert_eq!(at(call, 1, answer, "x"), Ok(Reply::block("m")));
        assert_eq!(at(call, 1, "{}", "x\n"), Err(HookError("exit code 1: x".into())));
        assert_eq!(at(call, 0, "", "x"), Ok(Reply::Nothing));
        let go_on = Reply::Continue { message: "test it".into() };
        assert_eq!(at(HookEvent::PreVerify, 2, "", "test it"), Ok(go_on));
        assert!(at(HookEvent::PostToolCall, 2, "", "x").is_err());
        let long = at(call, 2, "", &"é".repeat(5000));
        assert!(matches!(long, Ok(Reply::Block { message: Some(m) }) if m.chars().count() == 2001));
        let allow = OnError::Allow;
        assert!(interpret(call, allow, &finished(Ended::Signaled(11), answer, "")).is_err());
        assert!(interpret(call, allow, &finished(Ended::TimedOut, answer, "")).is_err());
    }

    #[test]
    fn a_guard_must_be_understood() {
        let at = |event, on_error, stdout: &str| {
            interpret(event, on_error, &finished(Ended::Exited(0), stdout, ""))
        };
        let (call, allow, block) = (HookEvent::PreToolCall, OnError::Allow, OnError::Block);
        for stdout in ["blocked!", r#"{"action":"blok"}"#, "[]", r#"{"action":"block"} x"#] {
            assert_eq!(at(call, allow, stdout), Ok(Reply::Nothing), "{stdout}");
            assert!(at(call, block, stdout).is_err(), "{stdout}");
            assert_eq!(at(HookEvent::PreVerify, block, stdout), Ok(Reply::Nothing), "{stdout}");
        }
        for stdout in ["", "\n", "{}", "\u{feff}", r#"{"action":"allow"}"#] {
            assert_eq!(at(call, block, stdout), Ok(Reply::Nothing), "{stdout:?}");
        }
        let marked = "\u{feff}{\"action\":\"block\",\"message\":\"no\"}";
        for on_error in [allow, block] {
            assert_eq!(at(call, on_error, marked), Ok(Reply::block("no")));
        }
        // What both keys together say is clear enough to ask, and not for a guard.
        let mixed = r#"{"action":"approve","decision":"deny","message":"m"}"#;
        assert_eq!(at(call, allow, mixed), Ok(Reply::approve("m")));
        assert!(at(call, block, mixed).is_err());
    }
}
