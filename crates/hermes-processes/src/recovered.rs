//! Processes of an earlier run of the program.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use hermes_exec::environment::Pid;
use hermes_exec::program::Stranger;
use hermes_terminal::{Cursor, DEFAULT_RING, Ring, Watch};
use tokio::sync::watch;

use crate::checkpoint::Saved;
use crate::job::{Output, Process};
use crate::spool;

/// Most bytes of the end of a file that can be among the characters that are kept.
const READ: u64 = 4 * DEFAULT_RING as u64;

/// A process that was remembered, if it is one of this machine and still runs.
pub(crate) fn process(saved: Saved, folder: Option<&Path>, grace: Duration) -> Option<Process> {
    let is_ours = saved.pid_scope == "host" && is_id(&saved.session_id);
    let stranger = saved.host_start_time.filter(|_| is_ours);
    let stranger = stranger.and_then(|started| Stranger::known(saved.pid, started));
    let file = folder.filter(|_| is_id(&saved.session_id));
    let file = file.map(|folder| spool::path(folder, &saved.session_id));
    let Some(stranger) = stranger else {
        if let Some(file) = file {
            let _ = std::fs::remove_file(file);
        }
        return None;
    };
    let mut ring = Ring::new(DEFAULT_RING);
    if let Some(bytes) = file.as_deref().and_then(end_of) {
        ring.push(&bytes);
    }
    let seconds = Duration::try_from_secs_f64(saved.started_at).unwrap_or_default();
    let started_at = SystemTime::UNIX_EPOCH + seconds;
    let age = started_at.elapsed().unwrap_or_default();
    Some(Process {
        id: saved.session_id,
        command: saved.command,
        cwd: saved.cwd,
        task: saved.task_id,
        session_key: saved.session_key,
        routing: saved.routing,
        started: Instant::now().checked_sub(age).unwrap_or_else(Instant::now),
        started_at,
        pid: Some(Pid::Host(saved.pid)),
        stranger: Some(stranger),
        tag: hermes_exec::program::tag_of(saved.pid),
        is_detached: true,
        is_terminal: false,
        notify: AtomicBool::new(saved.notify_on_complete),
        is_consumed: AtomicBool::new(false),
        grace,
        handle: Mutex::default(),
        lease: Mutex::default(),
        stdin: tokio::sync::Mutex::default(),
        output: Mutex::new(Output {
            ring,
            cursor: Cursor::default(),
            watch: Watch::new(&saved.watch_patterns),
            screen: None,
            spool: None,
        }),
        patterns: saved.watch_patterns,
        killer: Mutex::default(),
        ended: watch::Sender::new(None),
    })
}

/// Whether a text is an id and so harmless as the name of a file.
fn is_id(text: &str) -> bool {
    text.strip_prefix("proc_").is_some_and(|digits| {
        digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn end_of(file: &Path) -> Option<Vec<u8>> {
    let mut file = std::fs::File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(READ))).ok()?;
    let mut bytes = Vec::new();
    file.take(READ).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
