//! Getting a relay to run on a host.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use hermes_exec::environment::{Reader, Running, StartFailure, Stdin, Writer};
use hermes_exec::program::Streams;
use hermes_task::Tracked;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::connection::{Client, Connection};
use crate::failure::{self, Words};
use crate::options::{Control, Options};
use crate::protocol::{Event, Hello, decode};

/// The far side, in the language that nearly every host has.
const IN_PERL: &str = include_str!("relay.pl");

/// The same in the one that most of the others have.
const IN_PYTHON: &str = include_str!("relay.py");

/// How long it may take until the relay answers. ssh itself waits for ten seconds for a host.
const LIMIT: Duration = Duration::from_secs(30);

/// Bytes that a login shell may print before it runs what it is told.
const NOISE: usize = 256 * 1024;

/// How long a client that has said its last may take to end.
const END: Duration = Duration::from_secs(1);

/// Connects to a host and starts the relay there.
pub(crate) async fn connect(
    options: &Options,
    control: Control<'_>,
) -> Result<Connection, StartFailure> {
    let mark = format!("hermes-{:016x}", fastrand::u64(..));
    let streams = Streams { stdin: Stdin::Open, errors_apart: true, terminal: None };
    let running = options
        .program(control, &[], &[&bootstrap(&mark)])
        .launch(streams)
        .map_err(|error| StartFailure::new(format!("ssh can't be run: {error}")))?;
    let Running { output, errors, stdin, handle } = running;
    let (Some(errors), Some(input)) = (errors, stdin) else {
        return Err(StartFailure::new("ssh can't be run: it has no pipes"));
    };
    let words = Arc::new(Mutex::new(Words::default()));
    let listener = collect(errors, words.clone());
    let mut client = Client { output, input, handle, words, listener, come: BytesMut::new() };
    match timeout(LIMIT, greet(&mut client, &mark)).await {
        Ok(Ok(hello)) => Ok(Connection::over(client, hello, options.name())),
        Ok(Err(Refusal::NoLanguage)) => Err(StartFailure::new(format!(
            "{} has neither perl (with its module POSIX) nor python3, which commands are run by \
             there: install one",
            options.name()
        ))),
        Ok(Err(Refusal::Ended)) => {
            let exit = timeout(END, client.handle.wait()).await.ok();
            // The last words are on their way.
            let _ = timeout(END, &mut client.listener).await;
            let mut said = client.words.lock().unwrap_or_else(PoisonError::into_inner).text();
            let mut printed = Words::default();
            printed.push(&client.come);
            if said.is_empty() {
                said = printed.text();
            }
            Err(failure::of(options, &said, exit.as_ref()))
        }
        Err(_) => Err(StartFailure::passing(format!(
            "no ssh connection to {}: no answer within {} s",
            options.name(),
            LIMIT.as_secs()
        ))),
    }
}

/// What the login shell is told to do, whichever it is: one word in single quotes, without any sign
/// that one of them takes for its own there (`!` in csh, `\` in fish).
fn bootstrap(mark: &str) -> String {
    let quiet = "</dev/null >/dev/null 2>&1";
    let perl = format!(
        "perl -C0 -MPOSIX -e 1 {quiet} && echo {mark}-perl && exec perl -C0 -e \"eval <STDIN>\""
    );
    // The second is the system's own where there is no other.
    let [python, own] = ["python3", "/usr/libexec/platform-python"].map(|python| {
        format!(
            "{python} -IS -c \"import fcntl\" {quiet} && echo {mark}-python && \
             exec {python} -IS -c \"exec(input())\""
        )
    });
    format!("exec sh -c '{perl}; {python}; {own}; echo {mark}-none'")
}

/// What an interpreter is given to read: a line that has it take the rest, of known length.
fn relay(language: &str) -> Option<String> {
    let in_perl = IN_PERL.len();
    match language {
        "perl" => Some(format!(
            "read(STDIN,my $c,{in_perl})=={in_perl} or exit 9;eval $c;print STDERR $@;exit 9\n\
             {IN_PERL}"
        )),
        "python" => {
            let length = IN_PYTHON.len();
            Some(format!("import sys;exec(sys.stdin.read({length}))\n{IN_PYTHON}"))
        }
        _ => None,
    }
}

enum Refusal {
    /// The client or the login shell has ended.
    Ended,
    NoLanguage,
}

async fn greet(client: &mut Client, mark: &str) -> Result<Hello, Refusal> {
    let answer = await_mark(&mut client.output, &mut client.come, mark).await?;
    let relay = relay(&answer).ok_or(Refusal::NoLanguage)?;
    send(&mut client.input, relay.as_bytes()).await?;
    loop {
        match decode(&mut client.come) {
            Ok(Some((_, Event::Hello(hello)))) => return Ok(hello),
            Ok(Some(_)) | Err(_) => return Err(Refusal::Ended),
            Ok(None) => more(&mut client.output, &mut client.come).await?,
        }
    }
}

/// Reads up to the line that begins with the mark, whatever a login shell prints before it, and
/// returns the rest of that line.
async fn await_mark(
    output: &mut Reader,
    come: &mut BytesMut,
    mark: &str,
) -> Result<String, Refusal> {
    let mark = format!("{mark}-");
    loop {
        let found = come.windows(mark.len()).position(|part| part == mark.as_bytes());
        let begin = found.map(|at| at + mark.len());
        let rest = begin.and_then(|begin| come.get(begin..)).unwrap_or_default();
        if let Some(length) = rest.iter().position(|byte| *byte == b'\n') {
            let answer = String::from_utf8_lossy(rest.get(..length).unwrap_or_default());
            let answer = answer.trim_end().to_owned();
            let _ = come.split_to(begin.unwrap_or(0) + length + 1);
            return Ok(answer);
        }
        if come.len() > NOISE {
            return Err(Refusal::Ended);
        }
        more(output, come).await?;
    }
}

async fn more(output: &mut Reader, come: &mut BytesMut) -> Result<(), Refusal> {
    match output.read_buf(come).await {
        Ok(1..) => Ok(()),
        Ok(0) | Err(_) => Err(Refusal::Ended),
    }
}

async fn send(input: &mut Writer, bytes: &[u8]) -> Result<(), Refusal> {
    input.write_all(bytes).await.map_err(|_| Refusal::Ended)?;
    input.flush().await.map_err(|_| Refusal::Ended)
}

/// Keeps the last words of a stream.
fn collect(mut errors: Reader, words: Arc<Mutex<Words>>) -> Tracked<()> {
    hermes_task::spawn(async move {
        let mut chunk = vec![0; 4096];
        while let Ok(count @ 1..) = errors.read(&mut chunk).await {
            let said = chunk.get(..count).unwrap_or_default();
            words.lock().unwrap_or_else(PoisonError::into_inner).push(said);
        }
    })
}

/// Tells the client that shares connections through a socket to do something (`stop`, `exit`).
pub(crate) async fn control(options: &Options, socket: &Path, what: &str) {
    let program = options.program(Control::Shared(socket), &["-O", what], &[]);
    // Whoever isn't there need not be told.
    let _ = program.timeout(Duration::from_secs(5)).run().await;
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_first_word_is_safe_in_any_shell() {
        let bootstrap = bootstrap("hermes-0123456789abcdef");
        assert!(!bootstrap.contains(['!', '\\', '$', '`', '\n']));
        assert_eq!(bootstrap.matches('\'').count(), 2);
    }

    #[test]
    fn relays_are_as_long_in_characters_as_in_bytes() {
        assert!(IN_PERL.is_ascii() && IN_PYTHON.is_ascii());
    }
}
