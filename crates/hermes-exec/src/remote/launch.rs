//! Starting a command so that it can be found again, and ending it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use crate::environment::{Dialect, Start};

/// The variable that every process of a command inherits. Its value names the command.
pub const TAG: &str = "HERMES_COMMAND_ID";

/// How long a script may be to travel as an argument, in bytes. The kernel's limit is 128 KiB.
pub const LONGEST_ARGUMENT: usize = 64 * 1024;

/// Runs its arguments in a session of their own and notes the session's number in the file `$1`.
/// A shell between is needed: `setsid` forks, and so loses its exit code, where it leads a group.
/// What that shell would say about a command that was killed nobody wants to read.
const LAUNCH: &str = r#"f=$1; shift
if command -v setsid >/dev/null 2>&1; then s=setsid; else s=; fi
exec 3>&2 2>/dev/null
(exec $s sh -c 'f=$1; shift; (umask 077; echo $$ >"$f") 2>/dev/null; exec "$@"' sh "$f" "$@" 2>&3 3>&-)
c=$?; rm -f "$f"; exit $c"#;

/// Ends what has the variable of the command `$1` or is in the session noted in the file `$3`: a
/// friendly signal, and after `$2` tenths of a second the other one, until nothing is left. It may
/// be that processes are born meanwhile. Zombies count as gone. It names no program but `cat`,
/// `grep`, `sleep` and `rm`.
const ENDING: &str = r#"id=$1 grace=$2 f=$3 s=$(cat "$3" 2>/dev/null)
all() {
  grep -lF -e "=$id" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ p _; do echo "$p"; done
  [ -n "$s" ] && cat /proc/[0-9]*/stat 2>/dev/null | while read -r line; do
    case $line in *") "*) ;; *) continue ;; esac
    set -- ${line##*) }
    case $1 in Z|X) continue ;; esac
    [ "$4" = "$s" ] && echo "${line%% *}"
  done
}
p=$(all); [ -n "$p" ] && kill -TERM $p 2>/dev/null && kill -CONT $p 2>/dev/null
i=0
while p=$(all); [ -n "$p" ]; do
  [ $i -ge "$grace" ] && kill -KILL $p 2>/dev/null
  [ $i -ge $((grace + 20)) ] && exit 1
  sleep 0.1 2>/dev/null || { sleep 1; i=$((i + 9)); }
  i=$((i + 1))
done
rm -f "$f""#;

/// A text as one word of a shell, whatever is in it.
///
/// ```
/// assert_eq!(hermes_exec::remote::quoted("it's"), r"'it'\''s'");
/// ```
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The script with its variables before it. Names that no shell can have are left out.
#[must_use]
pub fn with_env(start: &Start) -> Cow<'_, str> {
    let mut exports = String::new();
    for (name, value) in start.env.iter().filter(|(name, _)| is_name(name)) {
        let _ = write!(exports, " {name}={}", quoted(value));
    }
    if exports.is_empty() {
        return Cow::Borrowed(&start.script);
    }
    Cow::Owned(format!("export{exports}; {}", start.script))
}

/// Whether a shell may have a variable of this name.
pub(crate) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
        && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// A script that runs the one in a file, which it removes.
#[must_use]
pub fn from_file(path: &str) -> String {
    let path = quoted(path);
    format!(r#"eval "$(cat {path} && rm -f {path})""#)
}

/// The program and its arguments that run `script` as `start` has it, as the command `id`. Its
/// folder for a file of its own is `temp_dir`.
///
/// A command at a terminal stays in the session that the terminal belongs to.
#[must_use]
pub fn launch(start: &Start, script: &str, id: &str, temp_dir: &str) -> Vec<String> {
    let mut argv: Vec<String> = Vec::new();
    let mut push = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    if start.terminal.is_none() {
        push(&["sh", "-c", LAUNCH, "sh", &noted(id, temp_dir)]);
    }
    push(&["env"]);
    if start.bare {
        push(&["-i"]);
    }
    push(&[&format!("{TAG}={id}")]);
    push(match start.dialect {
        Dialect::Bash => &["bash", "-c"],
        Dialect::BashLogin => &["bash", "-l", "-c"],
        Dialect::Posix => &["sh", "-c"],
    });
    push(&[script, if start.dialect == Dialect::Posix { "sh" } else { "bash" }]);
    argv
}

/// The program and its arguments that end the command `id` with all that it started. They return
/// when nothing is left, 2 s after `grace` at the latest.
#[must_use]
pub fn ending(id: &str, grace: Duration, temp_dir: &str) -> Vec<String> {
    let tenths = (grace.as_millis() / 100).to_string();
    ["sh", "-c", ENDING, "sh", id, &tenths, &noted(id, temp_dir)].map(str::to_owned).to_vec()
}

/// The file in which the number of a command's session stands.
fn noted(id: &str, temp_dir: &str) -> String {
    format!("{}/.hermes-{id}.pid", temp_dir.trim_end_matches('/'))
}
