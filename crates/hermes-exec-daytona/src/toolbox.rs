//! The toolbox inside of a sandbox.

use std::fmt::Write as _;
use std::time::Duration;

use hermes_exec::environment::Size;
use hermes_exec::remote::quoted;
use hermes_net::{BaseUrl, Method};
use serde_json::{Value, json};

use crate::api::{Api, Content, Fault, encoded};
use crate::multipart::form;

/// How long a request may take.
const LONGEST: Duration = Duration::from_secs(30);
/// How long files may take to get there.
const LONGEST_UPLOAD: Duration = Duration::from_secs(300);

/// One sandbox's toolbox.
pub(crate) struct Toolbox {
    pub(crate) api: Api,
    pub(crate) base: BaseUrl,
    pub(crate) sandbox: String,
}

impl Toolbox {
    async fn once(&self, method: Method, path: &str, content: Content) -> Result<Value, Fault> {
        self.api.once(&self.base, &method, path, &content, LONGEST).await
    }

    /// Writes files, paths and contents.
    pub(crate) async fn upload(&self, files: &[(&str, &[u8])]) -> Result<(), Fault> {
        let (kind, bytes) = form(files);
        let content = Content::Bytes { kind, bytes };
        let path = "files/bulk-upload";
        self.api.once(&self.base, &Method::POST, path, &content, LONGEST_UPLOAD).await.map(drop)
    }

    /// Makes a session.
    pub(crate) async fn open_session(&self, session: &str) -> Result<(), Fault> {
        let body = Content::Json(json!({ "sessionId": session }));
        match self.api.call(&self.base, Method::POST, "process/session", body).await {
            // It was made, and the answer got lost.
            Err(fault) if fault.status == Some(409) => Ok(()),
            made => made.map(drop),
        }
    }

    /// Runs a text in a session. The answer is the name of the command.
    pub(crate) async fn run(&self, session: &str, text: &str) -> Result<String, Fault> {
        let path = format!("process/session/{session}/exec");
        let body = json!({ "command": text, "runAsync": true, "suppressInputEcho": true });
        let answer = self.once(Method::POST, &path, Content::Json(body)).await?;
        let command = answer.get("cmdId").and_then(Value::as_str).map(str::to_owned);
        command.ok_or_else(|| Fault::other("the toolbox doesn't name the command"))
    }

    /// Ends a session and what it runs.
    pub(crate) async fn close_session(&self, session: &str) {
        let path = format!("process/session/{session}");
        let closed = self.api.call(&self.base, Method::DELETE, &path, Content::Nothing).await;
        if let Err(fault) = closed
            && !fault.is_absent()
        {
            tracing::debug!(%fault, "a session isn't closed");
        }
    }

    /// Makes a terminal with a shell, which starts when somebody is connected.
    pub(crate) async fn open_terminal(&self, terminal: &str, size: Size) -> Result<(), Fault> {
        let body = json!({
            "id": terminal,
            "cols": size.cols,
            "rows": size.rows,
            "envs": {},
            "lazyStart": true,
        });
        let made = self.api.call(&self.base, Method::POST, "process/pty", Content::Json(body));
        match made.await {
            // It was made, and the answer got lost.
            Err(fault) if fault.status == Some(409) => Ok(()),
            made => made.map(drop),
        }
    }

    /// Changes the size of a terminal.
    pub(crate) async fn resize_terminal(&self, terminal: &str, size: Size) -> Result<(), Fault> {
        let path = format!("process/pty/{terminal}/resize");
        let body = Content::Json(json!({ "cols": size.cols, "rows": size.rows }));
        self.api.call(&self.base, Method::POST, &path, body).await.map(drop)
    }

    /// Ends a terminal and its shell.
    pub(crate) async fn close_terminal(&self, terminal: &str) {
        let path = format!("process/pty/{terminal}");
        let closed = self.api.call(&self.base, Method::DELETE, &path, Content::Nothing).await;
        if let Err(fault) = closed
            && !fault.is_absent()
        {
            tracing::debug!(%fault, "a terminal isn't closed");
        }
    }

    /// The exit code of a session's command, if it has ended.
    pub(crate) async fn exit_code(
        &self,
        session: &str,
        command: &str,
    ) -> Result<Option<i32>, Fault> {
        let path = command_path(session, command);
        let answer = self.api.call(&self.base, Method::GET, &path, Content::Nothing).await?;
        let code = answer.get("exitCode").and_then(Value::as_i64);
        Ok(code.and_then(|code| i32::try_from(code).ok()))
    }

    /// Hands a line to what a session's command reads.
    pub(crate) async fn input(
        &self,
        session: &str,
        command: &str,
        line: &str,
    ) -> Result<(), Fault> {
        let path = format!("{}/input", command_path(session, command));
        let body = Content::Json(json!({ "data": line }));
        self.api.call(&self.base, Method::POST, &path, body).await.map(drop)
    }

    /// Runs a small program to its end: its exit code, and what it writes as text.
    pub(crate) async fn execute(
        &self,
        argv: &[String],
        longest: Duration,
    ) -> Result<(i64, String), Fault> {
        let body = json!({ "command": portable(argv), "timeout": longest.as_secs() });
        let longest = longest + LONGEST;
        let content = Content::Json(body);
        let answer =
            self.api.once(&self.base, &Method::POST, "process/execute", &content, longest).await?;
        let code = ["exitCode", "code"].iter().find_map(|key| answer.get(key)?.as_i64());
        let text = answer.get("result").and_then(Value::as_str).unwrap_or_default();
        Ok((code.unwrap_or_default(), text.to_owned()))
    }
}

pub(crate) fn command_path(session: &str, command: &str) -> String {
    format!("process/session/{session}/command/{}", encoded(command))
}

/// A program and its arguments as a text that a shell takes, and also a toolbox that splits it at
/// blanks by itself and knows quotes but nothing else.
fn portable(argv: &[String]) -> String {
    let words = argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let mut digits = String::new();
    for byte in words.bytes() {
        let _ = write!(digits, "\\{byte:03o}");
    }
    format!("sh -c 'eval \"$(printf \"{digits}\")\"'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn programs_are_one_text() {
        let text = portable(&["a".to_owned(), "b'c".to_owned()]);
        assert_eq!(
            text,
            r#"sh -c 'eval "$(printf "\047\141\047\040\047\142\047\134\047\047\143\047")"'"#
        );
    }
}
