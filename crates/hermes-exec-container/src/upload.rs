//! Bringing a script into a container as a file.

use hermes_exec::environment::{Exit, StartFailure, Stdin};
use tokio::io::AsyncReadExt as _;

use crate::names::unique;
use crate::transport::{Exec, Transport};

/// Writes what it reads to a file, and says how many bytes that were.
const STORE: &str = r#"umask 077 && cat >"$1" && wc -c <"$1""#;

/// Bytes kept of what goes wrong.
const SAID: u64 = 4096;

/// Writes a text to a new file below `folder` and gives its path.
pub(crate) async fn upload(
    transport: &dyn Transport,
    folder: &str,
    text: String,
) -> Result<String, StartFailure> {
    let path = format!("{}/.hermes-{}", folder.trim_end_matches('/'), unique());
    let length = text.len();
    let mut exec = Exec::new(["sh", "-c", STORE, "sh", &path]);
    exec.stdin = Stdin::Bytes(text.into_bytes());
    let mut running = transport.exec(exec).await?;
    let mut said = Vec::new();
    // Without an answer the bytes don't count.
    let _ = (&mut running.output).take(SAID).read_to_end(&mut said).await;
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    if said.parse() == Ok(length) {
        // Its program has nothing more to do.
        running.handle.release();
        return Ok(path);
    }
    let how = match running.handle.wait().await {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Lost(how) => how,
    };
    let _ = transport.exec(Exec::new(["rm", "-f", &path])).await;
    Err(StartFailure::passing(format!("the script can't be stored in {folder}: {said} ({how})")))
}
