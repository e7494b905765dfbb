//! Ending commands from inside of their container.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::{Reader, Running, StartFailure, Stdin, Writer};
use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep, timeout};

use crate::census::{self, Doomed, members};
use crate::transport::{Exec, Transport};

/// What looks around in the container and signals, as it is told line by line. It gets along with
/// what every shell has built in: there are images without `ps`, `pkill` or `sleep`. With `grep` and
/// `cat` it is ten times faster. Its arguments are the tags to look for.
///
/// - `look`: a line `/proc/PID/environ` for each process with a tag, a line with a dash, and the
///   entry of each process in `/proc`; as [`census::read`] takes it
/// - `who PID..`: a line with the number and the user of each
/// - `signal -NAME PID..`
///
/// A line with a dot alone ends each answer.
pub(crate) const SURVEY: &str = r#"exec 2>/dev/null
tags=
for g in "$@"; do
  tags="$tags${tags:+
}HERMES_COMMAND_ID=$g"
done
fast=
! printf '\0' | cat | grep -qzxF "" || fast=yes
while read -r word rest; do
  case $word in
  look)
    if [ "$fast" ]; then
      all=$(cat /proc/[0-9]*/stat)
      grep -lzxF "$tags" /proc/[0-9]*/environ
      printf '%s\n' - "$all"
    else
      all=
      for d in /proc/[0-9]*; do
        s=
        while read -r l; do s=$l; done <"$d/stat"
        [ -n "$s" ] || continue
        all="$all${all:+
}${d#/proc/} () ${s##*) }"
        while read -r l || [ -n "$l" ]; do
          for g in "$@"; do
            case $l in *HERMES_COMMAND_ID="$g"*)
              printf '%s\n' "$d/environ"
              break 2
              ;;
            esac
          done
        done <"$d/environ"
      done
      printf '%s\n' - "$all"
    fi
    ;;
  who)
    for p in $rest; do
      while read -r k v l; do
        [ "$k" != Uid: ] || printf '%s %s\n' "$p" "$v"
      done <"/proc/$p/status"
    done
    ;;
  signal) kill $rest ;;
  esac
  printf '.\n'
done"#;

/// Bytes of an answer. A container may say what it likes.
const ANSWER: usize = 32 * 1024 * 1024;

/// Bytes that an answer grows by.
const CHUNK: usize = 16 * 1024;

/// How long one answer is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often those who were told to end are looked at, at first and in the end.
const LOOKS: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];

/// How long the end of those who were killed is waited for.
const KILLED: Duration = Duration::from_secs(2);

/// Ends commands and everything that they started: tells them to if there is some `grace`, then
/// kills who is left.
///
/// # Errors
/// Nobody could look, or somebody is left.
pub(crate) async fn end(
    transport: &Arc<dyn Transport>,
    doomed: &[Doomed],
    grace: Duration,
) -> Result<(), StartFailure> {
    let mut survey = Survey::start(transport, doomed, None).await?;
    let survivors = survey.end(doomed, grace).await.map_err(|error| lost(&error))?;
    if survivors.is_empty() {
        return Ok(());
    }
    // Without the right to signal other users, they can only do it themselves.
    let mut users: Vec<u32> = survey.users(&survivors).await.map_err(|error| lost(&error))?;
    users.sort_unstable();
    users.dedup();
    for user in users {
        let mut survey = Survey::start(transport, doomed, Some(user)).await?;
        let left = survey.end(doomed, Duration::ZERO).await.map_err(|error| lost(&error))?;
        if left.is_empty() {
            return Ok(());
        }
    }
    Err(StartFailure::new("some of its processes can't be ended"))
}

fn lost(error: &io::Error) -> StartFailure {
    StartFailure::new(format!("the container can't be looked into: {error}"))
}

/// A program in the container that looks around.
struct Survey {
    stdin: Writer,
    output: Reader,
    unread: Vec<u8>,
    _running: Box<dyn hermes_exec::environment::Handle>,
}

impl Survey {
    async fn start(
        transport: &Arc<dyn Transport>,
        doomed: &[Doomed],
        user: Option<u32>,
    ) -> Result<Self, StartFailure> {
        let tags = doomed.iter().map(|doomed| doomed.tag.as_str());
        let mut exec = Exec::new(["sh", "-c", SURVEY, "sh"].into_iter().chain(tags));
        exec.stdin = Stdin::Open;
        exec.user = user;
        let Running { stdin, output, handle, .. } = transport.exec(exec).await?;
        let stdin = stdin.ok_or_else(|| StartFailure::new("there is no way to talk to it"))?;
        Ok(Self { stdin, output, unread: Vec::new(), _running: handle })
    }

    /// As [`end`], for those that may be signalled; who is left.
    async fn end(&mut self, doomed: &[Doomed], grace: Duration) -> io::Result<Vec<u32>> {
        let mut alive = self.members(doomed).await?;
        if !grace.is_zero() {
            self.signal("TERM", &alive).await?;
            // Who is stopped hears of it when it goes on.
            self.signal("CONT", &alive).await?;
            alive = self.gone(doomed, alive, Instant::now() + grace, None).await?;
        }
        // Again and again: who was just being started may have been overlooked.
        self.gone(doomed, alive, Instant::now() + KILLED, Some("KILL")).await
    }

    /// Looks until nobody is left or it is time to give up, and signals those it sees.
    async fn gone(
        &mut self,
        doomed: &[Doomed],
        mut alive: Vec<u32>,
        give_up: Instant,
        signal: Option<&str>,
    ) -> io::Result<Vec<u32>> {
        let [mut pause, longest] = LOOKS;
        while !alive.is_empty() {
            if let Some(signal) = signal {
                self.signal(signal, &alive).await?;
            }
            if Instant::now() >= give_up {
                break;
            }
            sleep(pause).await;
            pause = (pause * 2).min(longest);
            alive = self.members(doomed).await?;
        }
        Ok(alive)
    }

    async fn members(&mut self, doomed: &[Doomed]) -> io::Result<Vec<u32>> {
        let answer = self.ask("look\n").await?;
        Ok(members(&census::read(&answer), doomed))
    }

    async fn users(&mut self, pids: &[u32]) -> io::Result<Vec<u32>> {
        let answer = self.ask(&format!("who{}\n", words(pids))).await?;
        let user = |line: &str| line.split_once(' ')?.1.trim().parse().ok();
        Ok(answer.lines().filter_map(user).collect())
    }

    async fn signal(&mut self, name: &str, pids: &[u32]) -> io::Result<()> {
        if !pids.is_empty() {
            self.ask(&format!("signal -{name}{}\n", words(pids))).await?;
        }
        Ok(())
    }

    async fn ask(&mut self, question: &str) -> io::Result<String> {
        let asked = async {
            self.stdin.write_all(question.as_bytes()).await?;
            self.stdin.flush().await?;
            self.answer().await
        };
        timeout(PATIENCE, asked).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    async fn answer(&mut self) -> io::Result<String> {
        const END: &[u8] = b"\n.\n";
        // With a line end before, the end is always found alike.
        let mut bytes = vec![b'\n'];
        bytes.append(&mut self.unread);
        loop {
            if let Some(at) = memmem::find(&bytes, END) {
                self.unread = bytes.split_off(at + END.len());
                bytes.truncate(at + 1);
                return Ok(String::from_utf8_lossy(&bytes).into_owned());
            }
            if bytes.len() > ANSWER {
                return Err(io::Error::other("it doesn't stop talking"));
            }
            bytes.reserve(CHUNK);
            if self.output.read_buf(&mut bytes).await? == 0 {
                let said = String::from_utf8_lossy(&bytes).trim().to_owned();
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, said));
            }
        }
    }
}

fn words(pids: &[u32]) -> String {
    pids.iter().map(|pid| format!(" {pid}")).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use hermes_exec::program::{Program, Streams};
    use pretty_assertions::assert_eq;

    #[tokio::test]
    async fn tags_are_seen_with_and_without_programs() {
        let sleeper = |tag: &str| {
            let program = Program::new(["/bin/sleep", "1000"]).env([("A", "b"), (TAG, tag)]);
            program.launch(Streams::default()).unwrap()
        };
        let tag = crate::unique();
        let (ours, others) = (sleeper(&format!("{tag}1.")), sleeper(&format!("{tag}12.")));
        for path in ["/usr/bin:/bin", "/nonexistent"] {
            let words = ["/bin/sh", "-c", SURVEY, "sh", "none", &format!("{tag}1.")];
            let looked = Program::new(words).env([("PATH", path)]).stdin("look\n").run().await;
            let said = looked.unwrap().stdout.text().into_owned();
            let all = census::read(&format!("\n{said}"));
            let doomed = [Doomed { leader: None, tag: String::new() }];
            let expected = ours.handle.pid().unwrap().number();
            assert_eq!(members(&all, &doomed), [expected], "{path}");
            assert!(all.iter().any(|it| it.pid == others.handle.pid().unwrap().number()));
        }
    }

    const TAG: &str = hermes_exec::program::TAG;
}
