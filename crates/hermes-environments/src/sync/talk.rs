//! Running a script on the other machine.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hermes_exec::environment::{Environment, Exit, Reader, Running, Start, StartFailure, Writer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// How long nothing at all may happen.
const STALL: Duration = Duration::from_secs(60);

/// How long a script that is told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(1);

/// Bytes moved at once.
const CHUNK: usize = 128 * 1024;

/// Most bytes of what a script says that are kept, where it isn't an archive.
const SAID: usize = 4096;

/// Why files weren't carried.
pub(super) enum Trouble {
    /// The machine can't be used at all.
    Start(StartFailure),
    /// This is what happened.
    Failed(String),
}

impl From<Trouble> for StartFailure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Start(failure) => failure,
            Trouble::Failed(problem) => Self::passing(problem),
        }
    }
}

/// Starts a script.
async fn begin(environment: &dyn Environment, start: Start) -> Result<Running, Trouble> {
    match environment.start(start).await {
        Ok(running) => Ok(running),
        Err(failure) if failure.is_gone => Err(Trouble::Start(failure)),
        Err(failure) => Err(Trouble::Failed(failure.message)),
    }
}

/// Runs a script that says little, and gives what it said.
pub(super) async fn ask(
    environment: &dyn Environment,
    start: Start,
    limit: Duration,
) -> Result<Vec<u8>, Trouble> {
    let running = begin(environment, start).await?;
    let mut said = Vec::new();
    listen(running, None, limit, &mut |bytes| {
        said.extend_from_slice(bytes.get(..bytes.len().min(SAID - said.len())).unwrap_or_default());
        Ok(())
    })
    .await
    .map_err(Trouble::Failed)?;
    Ok(said)
}

/// Runs a script that reads a file, from its start.
pub(super) async fn send(
    environment: &dyn Environment,
    start: Start,
    file: Option<File>,
) -> Result<(), Trouble> {
    let running = begin(environment, start).await?;
    let sent = listen(running, file, STALL, &mut |_| Ok(())).await;
    sent.map_err(Trouble::Failed)
}

/// Runs a script that writes a file of at most so many bytes. `None` if it is longer.
pub(super) async fn fetch(
    environment: &dyn Environment,
    start: Start,
    file: &mut File,
    most: u64,
) -> Result<Option<()>, Trouble> {
    let running = begin(environment, start).await?;
    let mut left = Some(most);
    let mut take = |bytes: &[u8]| {
        left = left.and_then(|left| left.checked_sub(bytes.len() as u64));
        left.ok_or(io::ErrorKind::FileTooLarge)?;
        file.write_all(bytes)
    };
    let fetched = listen(running, None, STALL, &mut take).await;
    match (left, fetched) {
        (None, _) => Ok(None),
        (_, Ok(())) => Ok(Some(())),
        (_, Err(problem)) => Err(Trouble::Failed(problem)),
    }
}

/// Feeds a script and listens to it until it has ended well. It is ended when it doesn't, or when
/// nothing happens for `stall`.
async fn listen(
    mut running: Running,
    file: Option<File>,
    stall: Duration,
    take: &mut (dyn FnMut(&[u8]) -> io::Result<()> + Send),
) -> Result<(), String> {
    let (stdin, errors) = (running.stdin.take(), running.errors.take());
    let Running { output, handle, .. } = &mut running;
    let mut complaint = Vec::new();
    let moved = AtomicU64::new(0);
    let talk = async {
        let feed = async {
            match (stdin, file) {
                (Some(stdin), Some(file)) => feed(stdin, file, &moved).await,
                _ => Ok(()),
            }
        };
        let complain = async {
            if let Some(errors) = errors {
                complaints(errors, &mut complaint).await;
            }
            Ok(())
        };
        tokio::try_join!(feed, complain, drain(output, &moved, take))?;
        io::Result::Ok(handle.wait().await)
    };
    let exit = tokio::select! {
        exit = talk => exit,
        () = stands_still(&moved, stall) => Err(io::Error::other("nothing goes on any more")),
    };
    let problem = match exit {
        Ok(Exit::Code(0)) => return Ok(()),
        Ok(Exit::Code(code)) => format!("exit code {code}"),
        Ok(Exit::Lost(why)) => why,
        Err(error) => {
            handle.terminate(GRACE).await;
            error.to_string()
        }
    };
    let complaint = String::from_utf8_lossy(&complaint);
    Err(match complaint.trim() {
        "" => problem,
        complaint => format!("{complaint} ({problem})"),
    })
}

/// Ready when nothing was moved for a time.
async fn stands_still(moved: &AtomicU64, stall: Duration) {
    let mut before = None;
    loop {
        let now = Some(moved.load(Ordering::Relaxed));
        if now == before {
            return;
        }
        before = now;
        tokio::time::sleep(stall).await;
    }
}

/// Writes a file to a script. One that stops reading will say why by its end.
async fn feed(mut stdin: Writer, mut file: File, moved: &AtomicU64) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        // Just written, and so in memory as a rule.
        let read = file.read(&mut chunk)?;
        let mut rest = chunk.get(..read).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        while !rest.is_empty() {
            let Ok(written @ 1..) = stdin.write(rest).await else { return Ok(()) };
            rest = rest.get(written..).unwrap_or_default();
            moved.fetch_add(1, Ordering::Relaxed);
        }
    }
    // An error means that nobody reads any more.
    let _ = stdin.shutdown().await;
    Ok(())
}

/// Passes on what a script writes, up to its end.
async fn drain(
    output: &mut Reader,
    moved: &AtomicU64,
    take: &mut (dyn FnMut(&[u8]) -> io::Result<()> + Send),
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match output.read(&mut chunk).await? {
            0 => return Ok(()),
            read => take(chunk.get(..read).unwrap_or_default())?,
        }
        moved.fetch_add(1, Ordering::Relaxed);
    }
}

/// Keeps the beginning of what a script complains about.
async fn complaints(mut errors: Reader, kept: &mut Vec<u8>) {
    let mut chunk = vec![0; SAID];
    // An error is the end of what can be had.
    while let Ok(read @ 1..) = errors.read(&mut chunk).await {
        let room = SAID - kept.len();
        kept.extend_from_slice(chunk.get(..read.min(room)).unwrap_or_default());
    }
}
