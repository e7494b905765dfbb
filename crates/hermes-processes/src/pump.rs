//! Listening to a process until it has ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hermes_exec::environment::{Exit, Handle, Reader};
use hermes_terminal::{Admission, WatchEvent};
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::events::{Event, EventKind};
use crate::job::{KILLED, Process, lock};
use crate::processes::Shared;
use crate::state::{Ended, Reason, Source};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// A process has ended and something that it started holds its output: how long it may be silent
/// before nobody listens any more.
const QUIET: Duration = Duration::from_millis(100);

/// How long such a thing is listened to when it isn't silent.
const TALK: Duration = Duration::from_millis(500);

/// How many characters of the end of the output are told with the end of the process.
const TOLD: usize = 2000;

/// Takes what a process writes, and tells its end.
pub(crate) async fn pump(
    shared: Arc<Shared>,
    process: Arc<Process>,
    handle: Arc<dyn Handle>,
    mut output: Reader,
) {
    let mut chunk = vec![0; CHUNK];
    let mut is_open = true;
    let exit = {
        let mut exit = std::pin::pin!(handle.wait());
        loop {
            let due = process.output().watch.due();
            let silent = async {
                match due {
                    Some(due) => tokio::time::sleep(due.saturating_sub(shared.now())).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                exit = &mut exit => break exit,
                read = output.read(&mut chunk), if is_open => match read {
                    Ok(count @ 1..) => {
                        shared.take(&process, chunk.get(..count).unwrap_or_default());
                        // Looking through it takes a while, and others want to go on too.
                        tokio::task::yield_now().await;
                    }
                    // An error is the end of what can be had.
                    _ => is_open = false,
                },
                () = silent => {
                    let event = process.output().watch.tick(shared.now());
                    shared.tell(&process, event);
                }
            }
        }
    };
    let give_up = Instant::now() + TALK;
    while is_open && Instant::now() < give_up {
        match timeout(QUIET, output.read(&mut chunk)).await {
            Ok(Ok(count @ 1..)) => shared.take(&process, chunk.get(..count).unwrap_or_default()),
            _ => is_open = false,
        }
    }
    let event = {
        let mut output = process.output();
        output.ring.finish();
        output.watch.finish(shared.now())
    };
    shared.tell(&process, event);
    let killer = *lock(&process.killer);
    let ended = match (killer, exit) {
        (Some(source), _) => Ended::new(Some(KILLED), Reason::Killed, source),
        (None, Exit::Code(code)) => Ended::new(Some(code), Reason::Exited, Source::Itself),
        (None, Exit::Lost(why)) => {
            Ended { note: Some(why), ..Ended::new(None, Reason::Lost, Source::BackendLost) }
        }
    };
    if killer.is_none() {
        // What it left behind goes on, as under a shell.
        handle.release();
    }
    // Nothing can be typed any more; and the number of the process is free for others.
    *process.stdin.lock().await = None;
    lock(&process.handle).take();
    drop(handle);
    shared.ended(&process, ended);
}

impl Shared {
    /// Takes what a process wrote.
    fn take(&self, process: &Process, bytes: &[u8]) {
        let event = {
            let mut output = process.output();
            output.ring.push(bytes);
            if let Some(screen) = &mut output.screen {
                screen.push(bytes);
            }
            if let Some(spool) = &mut output.spool {
                spool.push(bytes);
            }
            output.watch.push(self.now(), bytes)
        };
        self.tell(process, event);
    }

    /// Tells of a pattern that was found, unless all processes together tell too much.
    fn tell(&self, process: &Process, event: Option<WatchEvent>) {
        let Some(event) = event else { return };
        let tell = |kind| self.events.push(self.event(process, kind));
        let kind = match event {
            WatchEvent::Disabled { suppressed } => {
                process.notify.store(true, Ordering::Release);
                tell(EventKind::WatchDisabled { suppressed });
                return;
            }
            WatchEvent::Match { pattern, output, suppressed, .. } => {
                let output = (self.mask)(&process.command, &output);
                EventKind::WatchMatch { pattern, output, suppressed }
            }
        };
        let admission = lock(&self.breaker).admit(self.now());
        match admission {
            Admission::Admitted => tell(kind),
            Admission::Released(dropped) => {
                tell(EventKind::WatchOverflowReleased { dropped });
                tell(kind);
            }
            Admission::Tripped => tell(EventKind::WatchOverflowTripped),
            Admission::Dropped => {}
        }
    }

    /// Goes over to the other state, and tells whoever wanted to know.
    pub(crate) fn ended(self: &Arc<Self>, process: &Process, ended: Ended) {
        let kind = EventKind::Completion {
            exit_code: ended.code,
            reason: ended.reason,
            source: ended.source,
            output: process.masked_preview(TOLD, |text| (self.mask)(&process.command, text)),
        };
        // A wait that this wakes finds the event in its place, and takes it away.
        let is_told = process.notifies()
            && process.ended.borrow().is_none()
            && !process.is_consumed.load(Ordering::Acquire);
        if is_told {
            self.events.push(self.event(process, kind));
        }
        process.end(ended);
        drop(self.save());
    }

    fn event(&self, process: &Process, kind: EventKind) -> Event {
        Event {
            process: process.id.clone(),
            command: (self.mask)(&process.command, &process.command),
            session_key: process.session_key.clone(),
            routing: process.routing.clone(),
            kind,
        }
    }
}
