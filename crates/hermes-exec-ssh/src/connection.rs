//! A connection to a relay: commands by their numbers, and the two tasks that carry frames.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use hermes_exec::environment::{
    BoxFuture, Dialect, Handle, Reader, Running, Start, StartFailure, Stdin, Writer,
};
use hermes_task::Tracked;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::command::{Command, InputWriter, RemoteHandle};
use crate::failure::Words;
use crate::output::OutputReader;
use crate::protocol::{Event, Hello, Request, Stream, decode};

/// Bytes of a read from the relay.
const CHUNK: usize = 64 * 1024;

/// How often the relay hears from us. It takes a quarter of an hour of silence for our end.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// How long a connection may have been silent before it is tried out.
const FRESH: Duration = Duration::from_secs(15);

/// How long the answer to that may take.
const ANSWER: Duration = Duration::from_secs(10);

/// How long the start of a shell may take.
const START: Duration = Duration::from_secs(60);

/// How long the last words of ssh are waited for once it says nothing any more.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long the relay may take to end everything: a second of grace, three more until it gives up.
const QUIT: Duration = Duration::from_secs(6);

/// What ends a line of the terminal's input: what is given as stdin has an end.
const END_OF_INPUT: u8 = 4;

/// The way to the relay.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing(mpsc::UnboundedSender<Vec<u8>>);

impl Outgoing {
    /// Never waits: what may be under way is bounded by windows. Where nobody listens any more the
    /// command will be told.
    pub(crate) fn say(&self, id: u32, request: &Request<'_>) {
        let _ = self.0.send(request.encode(id));
    }
}

/// A connection that is or was there.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    outgoing: Outgoing,
    next: AtomicU32,
    pub(crate) hello: Hello,
    tasks: Mutex<Vec<Tracked<()>>>,
}

/// Whether a connection can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Usable,
    /// It has ended.
    Ended,
    /// It is there, and nobody answers.
    Silent,
}

struct Shared {
    name: String,
    /// None when the connection has ended.
    commands: Mutex<Option<HashMap<u32, Arc<Command>>>>,
    heard: Mutex<Instant>,
    pongs: watch::Sender<u32>,
    has_ended: watch::Sender<bool>,
}

/// The client of a connection that was just made.
pub(crate) struct Client {
    pub(crate) output: Reader,
    pub(crate) input: Writer,
    pub(crate) handle: Box<dyn Handle>,
    pub(crate) words: Arc<Mutex<Words>>,
    /// Collects them.
    pub(crate) listener: Tracked<()>,
    /// What has come and was not looked at.
    pub(crate) come: BytesMut,
}

impl Connection {
    pub(crate) fn over(client: Client, hello: Hello, name: String) -> Self {
        let shared = Arc::new(Shared {
            name,
            commands: Mutex::new(Some(HashMap::new())),
            heard: Mutex::new(Instant::now()),
            pongs: watch::Sender::default(),
            has_ended: watch::Sender::default(),
        });
        let (sender, receiver) = mpsc::unbounded_channel();
        let Client { output, input, handle, words, listener, come } = client;
        let listen = listen(shared.clone(), output, come, handle, words);
        Self {
            shared,
            outgoing: Outgoing(sender),
            next: AtomicU32::new(1),
            hello,
            tasks: Mutex::new(vec![
                hermes_task::spawn(listen),
                hermes_task::spawn(speak(input, receiver)),
                listener,
            ]),
        }
    }

    /// Whether a command can be started over it. One that was silent for some time is asked.
    pub(crate) async fn condition(&self) -> Condition {
        if self.shared.commands().is_none() {
            return Condition::Ended;
        }
        let heard = *self.shared.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.elapsed() < FRESH {
            return Condition::Usable;
        }
        let mut pongs = self.shared.pongs.subscribe();
        let mut ended = self.shared.has_ended.subscribe();
        self.outgoing.say(0, &Request::Ping);
        let answer = async {
            tokio::select! {
                _ = pongs.changed() => Condition::Usable,
                _ = ended.wait_for(|has_ended| *has_ended) => Condition::Ended,
            }
        };
        timeout(ANSWER, answer).await.unwrap_or(Condition::Silent)
    }

    /// Starts a shell.
    pub(crate) async fn start(self: Arc<Self>, mut start: Start) -> Result<Running, StartFailure> {
        self.check(&start)?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let has_terminal = start.terminal.is_some();
        if has_terminal && start.stdin == Stdin::Null {
            start.stdin = Stdin::Open;
        }
        let command = Arc::new(Command::new(id, self.outgoing.clone(), has_terminal));
        match self.shared.commands().as_mut() {
            Some(commands) => commands.insert(id, command.clone()),
            None => return Err(StartFailure::passing(self.shared.lost("it has ended"))),
        };
        self.outgoing.say(id, &Request::Start(&start));
        // From here on the command is ended if nobody wants it any more.
        let handle = RemoteHandle {
            command: command.clone(),
            _connection: self.clone(),
            is_released: AtomicBool::new(false),
        };
        let output: Reader = Box::pin(OutputReader::of(command.clone(), Stream::Output));
        let errors = (start.errors_apart && !has_terminal)
            .then(|| Box::pin(OutputReader::of(command.clone(), Stream::Errors)) as Reader);
        let mut stdin = (start.stdin != Stdin::Null).then(|| InputWriter::of(command.clone()));
        match timeout(START, command.started()).await {
            Ok(started) => started?,
            Err(_) => {
                return Err(StartFailure::new(format!(
                    "{} doesn't say whether the command was started; it may have been",
                    self.shared.name
                )));
            }
        }
        if let Stdin::Bytes(bytes) = start.stdin
            && let Some(mut writer) = stdin.take()
        {
            handle.command.feed(hermes_task::spawn(async move {
                // A command may close its stdin whenever it likes.
                let _ = writer.write_all(&bytes).await;
                if has_terminal {
                    let _ = writer.write_all(&[END_OF_INPUT]).await;
                }
            }));
        }
        let stdin = stdin.map(|stdin| Box::pin(stdin) as Writer);
        Ok(Running { output, errors, stdin, handle: Box::new(handle) })
    }

    /// What the host can't do, and what can't be a variable.
    fn check(&self, start: &Start) -> Result<(), StartFailure> {
        let name = &self.shared.name;
        if start.dialect != Dialect::Posix && !self.hello.has_bash {
            return Err(StartFailure::new(format!("there is no bash on {name}")));
        }
        if start.terminal.is_some() && !self.hello.has_terminals {
            return Err(StartFailure::new(format!("terminals can't be made on {name}")));
        }
        let is_wrong = |(name, value): &&(String, String)| {
            name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
        };
        match start.env.iter().find(is_wrong) {
            Some((name, _)) => Err(StartFailure::new(format!("{name:?} can't be a variable"))),
            None => Ok(()),
        }
    }

    /// Has the relay end everything and itself.
    pub(crate) fn quit(&self) -> BoxFuture<'_, ()> {
        let mut ended = self.shared.has_ended.subscribe();
        self.outgoing.say(0, &Request::Quit);
        Box::pin(async move {
            let _ = timeout(QUIT, ended.wait_for(|has_ended| *has_ended)).await;
            // If it doesn't, the end of the connection makes it: the client ends with its listener.
            drop(std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner)));
        })
    }
}

impl Shared {
    fn commands(&self) -> MutexGuard<'_, Option<HashMap<u32, Arc<Command>>>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lost(&self, reason: &str) -> String {
        format!("the ssh connection to {} was lost: {reason}", self.name)
    }

    fn note(&self, id: u32, event: Event) {
        if event == Event::Pong {
            self.pongs.send_modify(|count| *count = count.wrapping_add(1));
            return;
        }
        let is_last = matches!(event, Event::Gone | Event::Failed(..));
        let command = {
            let mut commands = self.commands();
            let Some(commands) = commands.as_mut() else { return };
            if is_last { commands.remove(&id) } else { commands.get(&id).cloned() }
        };
        if let Some(command) = command {
            command.note(event);
        }
    }

    fn cut(&self, reason: &str) {
        let commands = self.commands().take().unwrap_or_default();
        let reason = self.lost(reason);
        for command in commands.into_values() {
            command.cut(&reason);
        }
        self.has_ended.send_replace(true);
    }
}

/// Cuts every command off when the connection goes, however that happens.
struct Cut(Arc<Shared>);

impl Drop for Cut {
    fn drop(&mut self) {
        self.0.cut("it was closed");
    }
}

/// Takes what the relay says to whom it concerns, until it says nothing any more.
async fn listen(
    shared: Arc<Shared>,
    mut output: Reader,
    mut come: BytesMut,
    client: Box<dyn Handle>,
    words: Arc<Mutex<Words>>,
) {
    let cut = Cut(shared.clone());
    let mut is_malformed = false;
    'connected: loop {
        loop {
            match decode(&mut come) {
                Ok(Some((id, event))) => shared.note(id, event),
                Ok(None) => break,
                Err(_) => {
                    is_malformed = true;
                    break 'connected;
                }
            }
        }
        come.reserve(CHUNK);
        match output.read_buf(&mut come).await {
            Ok(1..) => {
                *shared.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            }
            Ok(0) | Err(_) => break,
        }
    }
    if is_malformed {
        shared.cut("what came from the host makes no sense");
        return;
    }
    let _ = timeout(LAST_WORDS, client.wait()).await;
    let said = words.lock().unwrap_or_else(PoisonError::into_inner).text();
    shared.cut(if said.is_empty() { "it was closed" } else { &said });
    drop(cut);
}

/// Sends what is to be said, and something from time to time.
async fn speak(mut input: Writer, mut receiver: mpsc::UnboundedReceiver<Vec<u8>>) {
    loop {
        let frame = match timeout(HEARTBEAT, receiver.recv()).await {
            Ok(Some(frame)) => frame,
            Ok(None) => return,
            Err(_) => Request::Ping.encode(0),
        };
        if input.write_all(&frame).await.is_err() || input.flush().await.is_err() {
            // The other task hears of it as well, and tells.
            return;
        }
    }
}
