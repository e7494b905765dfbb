//! Running a program in a container.

use bytes::Bytes;
use hermes_exec::environment::{Reader, Running, Size, StartFailure, Stdin, Writer};
use hermes_exec_container::Exec;
use hyper::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::{Method, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::time::timeout;

use super::frames::{Frames, part};
use super::handle::ExecHandle;
use super::{Api, ApiError, PATIENCE, read, refused, request, send, too_slow};
use crate::cli::DETACH_KEYS;

/// Bytes of each stream that wait for a reader, where the two are apart.
const WAITING: usize = 64 * 1024;

/// The character that ends the input on a terminal.
const END: u8 = 4;

impl Api {
    /// Runs a program in a container.
    ///
    /// # Errors
    /// It wasn't run; or it isn't known whether it was, as the error says.
    pub(crate) async fn exec(&self, container: &str, exec: Exec) -> Result<Running, StartFailure> {
        let has_stdin = exec.stdin != Stdin::Null || exec.terminal.is_some();
        let id = self.create(container, &exec, has_stdin).await.map_err(before)?;
        let started = timeout(PATIENCE, self.begin(&id, exec.terminal));
        let (unread, stream) = started.await.unwrap_or_else(|_| Err(too_slow())).map_err(after)?;
        let (from, to) = stream.into_split();
        // What came together with the answer is the beginning.
        let from = std::io::Cursor::new(unread).chain(from);
        let mut handle = ExecHandle::new(self.clone(), id, exec.terminal.is_some());
        let mut errors: Option<Reader> = None;
        let output: Reader = if exec.terminal.is_some() {
            Box::pin(from)
        } else if exec.errors_apart {
            let (ours, theirs) = duplex(WAITING);
            let (our_errors, their_errors) = duplex(WAITING);
            let parted = hermes_task::spawn(part(Frames::new(from), ours, our_errors));
            handle.parted = Some(parted);
            errors = Some(Box::pin(their_errors));
            Box::pin(theirs)
        } else {
            Box::pin(Frames::new(from))
        };
        let stdin = give(exec.stdin, exec.terminal.is_some(), to, &mut handle);
        Ok(Running { output, errors, stdin, handle: Box::new(handle) })
    }

    async fn create(
        &self,
        container: &str,
        exec: &Exec,
        has_stdin: bool,
    ) -> Result<String, ApiError> {
        let env: Vec<String> =
            exec.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut body = json!({
            "AttachStdin": has_stdin,
            "AttachStdout": true,
            "AttachStderr": true,
            "Tty": exec.terminal.is_some(),
            "DetachKeys": DETACH_KEYS,
            "Cmd": exec.argv,
            "Env": env,
        });
        if let (Some(user), Some(body)) = (exec.user, body.as_object_mut()) {
            body.insert("User".to_owned(), Value::String(user.to_string()));
        }
        let path = format!("/containers/{container}/exec");
        let answer = self.ask(Method::POST, &path, Some(&body)).await?;
        let id = answer.get("Id").and_then(Value::as_str).map(str::to_owned);
        id.ok_or_else(|| ApiError::Lost("it gave no number".to_owned()))
    }

    /// Starts what was created. The bytes that came at once, and the stream for the rest.
    async fn begin(
        &self,
        id: &str,
        terminal: Option<Size>,
    ) -> Result<(Bytes, UnixStream), ApiError> {
        let lost = |why: &dyn std::fmt::Display| ApiError::Lost(why.to_string());
        let mut body = json!({"Detach": false, "Tty": terminal.is_some()});
        if let (Some(size), Some(body)) = (terminal, body.as_object_mut()) {
            // Engines that don't know it leave it alone.
            body.insert("ConsoleSize".to_owned(), json!([size.rows, size.cols]));
        }
        let mut request = request(Method::POST, &format!("/exec/{id}/start"), Some(&body));
        request.headers_mut().insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        request.headers_mut().insert(UPGRADE, HeaderValue::from_static("tcp"));
        let (mut sender, _driver) = self.open().await?;
        let response = send(&mut sender, request).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let status = response.status();
            let body = read(response).await?;
            return Err(refused(status, &body));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(|error| lost(&error))?;
        let parts = upgraded.downcast::<TokioIo<UnixStream>>();
        let parts = parts.map_err(|_| lost(&"its stream is of another kind"))?;
        let stream = parts.io.into_inner();
        if let Some(size) = terminal {
            // The terminal is there as soon as the program is.
            let _ = self.resize(id, size).await;
        }
        Ok((parts.read_buf, stream))
    }

    pub(super) async fn resize(&self, id: &str, size: Size) -> Result<(), ApiError> {
        let path = format!("/exec/{id}/resize?h={}&w={}", size.rows, size.cols);
        self.ask(Method::POST, &path, None).await.map(drop)
    }

    /// What is known of a program in a container.
    pub(super) async fn inspect_exec(&self, id: &str) -> Result<Value, ApiError> {
        self.ask(Method::GET, &format!("/exec/{id}/json"), None).await
    }
}

/// Gives a program its input; the other end, where that is for somebody else to write.
fn give(
    stdin: Stdin,
    is_terminal: bool,
    mut to: OwnedWriteHalf,
    handle: &mut ExecHandle,
) -> Option<Writer> {
    match stdin {
        Stdin::Bytes(bytes) => {
            handle.feed = Some(hermes_task::spawn(async move {
                // A program may close its stdin whenever it likes.
                let _ = to.write_all(&bytes).await;
                if is_terminal {
                    let _ = to.write_all(&[END]).await;
                    // Closing this side would hang the terminal up.
                    std::future::pending::<()>().await;
                }
            }));
            None
        }
        Stdin::Open => Some(Box::pin(to)),
        Stdin::Null if is_terminal => Some(Box::pin(to)),
        Stdin::Null => {
            // Nobody writes, but an engine could take its end for our leaving.
            handle.idle = Some(to);
            None
        }
    }
}

/// Nothing was started.
fn before(error: ApiError) -> StartFailure {
    match error {
        ApiError::Refused(StatusCode::NOT_FOUND, why) => StartFailure::gone(why),
        ApiError::Refused(_, why) => StartFailure::new(why),
        // Of what was created and not started nothing runs.
        error @ (ApiError::Unreachable(_) | ApiError::Lost(_)) => {
            StartFailure::passing(error.to_string())
        }
    }
}

/// Something may have been started.
fn after(error: ApiError) -> StartFailure {
    match error {
        ApiError::Unreachable(_) => StartFailure::passing(error.to_string()),
        ApiError::Refused(StatusCode::NOT_FOUND, why) => StartFailure::gone(why),
        ApiError::Refused(..) | ApiError::Lost(_) => StartFailure::new(error.to_string()),
    }
}
