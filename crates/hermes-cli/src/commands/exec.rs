//! `hermes exec`: the tool calls of assistant messages, each message as one batch.

use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_registry::{MAX_NAME_LEN, Services};
use hermes_tools::{CallOutcome, CallStatus, Runtime, Session, ToolCall};
use tokio::sync::mpsc;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::{Exec, Globals};
use crate::exit::{Ended, Exit, Failure, is_held};
use crate::host::Host;
use crate::interrupt::Interrupt;
use crate::language_servers::LanguageServers;
use crate::messages::Reader;
use crate::output::Ui;
use crate::preview;
use crate::style::{BAD, BOLD, DIM};
use crate::terminals::Terminals;
use crate::watcher::Watcher;

/// How much of a result people are shown.
const PREVIEW_LINES: usize = 6;

/// Runs all messages and prints the tool messages in the order of the calls.
pub(crate) fn run(globals: &Globals, asked: &Exec, ui: &mut Ui) -> Ended {
    let host = Host::for_calls(globals, &asked.calling, ui)?;
    let interrupt = Interrupt::new();
    let cancel = interrupt.token().clone();
    let watcher = Arc::new(Watcher::new(ui, host.settings()));
    let servers = LanguageServers::of(host.settings(), true);
    let terminals = Terminals::of(&host, asked.calling.cwd.as_deref())?;
    let services = terminals.lend(servers.lend(services()), ui);
    let mut options = super::calling_session(&host, &asked.calling, services, cancel.clone(), ui)?;
    options.observer = Some(Arc::clone(&watcher) as _);
    let session = host.open(options)?;
    let mut batches = batches(&asked.file)?;

    let started = Instant::now();
    let mut run = Run {
        runtime: &host.runtime,
        session: &session,
        watcher: &watcher,
        ui,
        tally: Tally::default(),
        messages: 0,
    };
    let ended = interrupt.run(async {
        terminals.begin();
        let ended = loop {
            let batch = tokio::select! {
                batch = batches.recv() => batch,
                // What is written down already still gets its answers.
                () = cancel.cancelled() => batches.try_recv().ok(),
            };
            match batch {
                Some(Ok(calls)) => match run.batch(calls).await {
                    Ok(()) => {}
                    Err(failure) => break Err(failure),
                },
                Some(Err(fault)) => break Err(Failure::usage(fault)),
                None => break Ok(()),
            }
        };
        terminals.close(run.ui).await;
        ended
    });
    let tally = run.tally;
    if !ui.quiet && !matches!(ended, Err(Failure::ClosedPipe)) {
        ui.status.print(tally.summary(started.elapsed()));
    }
    ended?;
    Ok(if let Some(exit) = interrupt.exit() {
        exit
    } else if tally.failed > 0 {
        Exit::Failed
    } else if tally.blocked > 0 {
        Exit::Blocked
    } else {
        Exit::Success
    })
}

/// What the program lends to tools: it is the agent loop here, if a short one.
fn services() -> Services {
    let services = Services::new();
    #[cfg(feature = "todo")]
    let services = {
        use hermes_tools::tool_todo::{InMemoryTodos, TodoStore};
        services.with::<dyn TodoStore>(Arc::new(InMemoryTodos::new()))
    };
    services
}

/// The calls of one line, or what is wrong with it.
type Batch = Result<Vec<ToolCall>, String>;

/// The batches of a file or of stdin.
///
/// A file is read to its end first, so that nothing runs when a line of it is bad. From stdin each
/// line is taken as it comes: whoever writes it may be waiting for the answer.
fn batches(file: &Path) -> Result<mpsc::UnboundedReceiver<Batch>, Failure> {
    let (sender, batches) = mpsc::unbounded_channel();
    let mut reader = Reader::default();
    if file == Path::new("-") {
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            for line in io::stdin().lock().lines() {
                let batch = match line {
                    Ok(line) => reader.next(&line),
                    Err(error) => Err(format!("cannot read stdin: {error}")),
                };
                let is_last = batch.is_err();
                if sender.send(batch).is_err() || is_last {
                    return;
                }
            }
        })?;
    } else {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
        for line in text.lines() {
            let calls = reader
                .next(line)
                .map_err(|fault| Failure::usage(format!("{}, {fault}", file.display())))?;
            // The other end is still here.
            let _ = sender.send(Ok(calls));
        }
    }
    Ok(batches)
}

#[derive(Clone, Copy, Default)]
struct Tally {
    ok: usize,
    failed: usize,
    blocked: usize,
}

impl Tally {
    fn summary(self, time: Duration) -> String {
        let Self { ok, failed, blocked } = self;
        let calls = ok + failed + blocked;
        let noun = if calls == 1 { "call" } else { "calls" };
        let seconds = time.as_secs_f64();
        let style = if failed + blocked > 0 { BAD } else { DIM };
        let blocked = match blocked {
            0 => String::new(),
            count => format!("{count} blocked, "),
        };
        format!("{style}{calls} {noun}: {ok} ok, {failed} failed, {blocked}{seconds:.1}s{style:#}")
    }
}

struct Run<'r> {
    runtime: &'r Runtime,
    session: &'r Session,
    watcher: &'r Watcher,
    ui: &'r mut Ui,
    tally: Tally,
    messages: u64,
}

impl Run<'_> {
    async fn batch(&mut self, calls: Vec<ToolCall>) -> Result<(), Failure> {
        self.messages += 1;
        self.session.begin_request(&format!("message-{}", self.messages));
        for outcome in self.runtime.call_batch(self.session, calls).await {
            match outcome.status {
                CallStatus::Blocked => self.tally.blocked += 1,
                _ if is_held(&outcome) => self.tally.blocked += 1,
                _ if outcome.is_ok() => self.tally.ok += 1,
                _ => self.tally.failed += 1,
            }
            if self.ui.out.is_terminal() {
                self.show(&outcome)?;
            } else {
                self.ui.out.json(&outcome.to_message())?;
            }
        }
        self.ui.out.flush()?;
        Ok(())
    }

    /// The view for people: the call on one line, the beginning of its result below.
    fn show(&mut self, outcome: &CallOutcome) -> io::Result<()> {
        let shown = self.watcher.take(&outcome.id).unwrap_or_default();
        let emoji = if shown.emoji.is_empty() { "⚡" } else { shown.emoji };
        // A name that is no tool's may hold anything, escape sequences too.
        let tool = outcome.tool.as_deref().unwrap_or(&outcome.called);
        let tool = preview::cut(&preview::one_line(tool), MAX_NAME_LEN);
        let label = if shown.verb.is_empty() { &tool } else { shown.verb };
        let time = format!("{:.1}s", outcome.duration.as_secs_f64());
        let failure = preview::failure(outcome);
        let width = self.ui.out.width().unwrap_or(80);
        let called = match outcome.called.as_str() {
            called if called == tool => String::new(),
            called => format!(" (called {})", preview::cut(&preview::one_line(called), 32)),
        };
        let taken = label.width().max(9) + called.width() + time.len() + failure.width() + 7;
        let room = width.saturating_sub(taken);
        let detail = preview::cut(&shown.preview, room);
        let (lines, more) = preview::result(&outcome.content(), PREVIEW_LINES);
        let style = if outcome.failed { BAD } else { DIM };
        let out = &mut self.ui.out;
        writeln!(
            out,
            "{emoji} {BOLD}{label:9}{BOLD:#}{DIM}{called}{DIM:#} {detail} {DIM}{time}{DIM:#}\
             {BAD}{failure}{BAD:#}"
        )?;
        for line in &lines {
            let line = preview::cut(line, width.saturating_sub(3));
            writeln!(out, "   {style}{line}{style:#}")?;
        }
        if more > 0 {
            let lines = super::tools_list::count(more, "line");
            writeln!(out, "   {DIM}… {lines} more{DIM:#}")?;
        }
        Ok(())
    }
}
