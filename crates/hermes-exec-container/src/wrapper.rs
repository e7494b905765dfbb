//! The small shell around a command, which tells when it begins and how it ends.

use hermes_exec::environment::Dialect;

/// Bytes of a script that still travels as an argument. Linux allows 128 KiB for one.
pub(crate) const ARGUMENT: usize = 64 * 1024;

/// The bytes before each of a command's marks.
pub(crate) const MARK: u8 = 0x1e;

/// What runs a command. Its arguments: the name in the marks, whether stderr is apart, the shell,
/// and the script. It goes on when it is told to end, since the command may have something to say
/// to that; whoever wants it to end kills it.
///
/// It has no stderr itself: shells like to tell that a child was
/// killed.
///
/// The one variable it needs isn't exported by anybody, so that the command doesn't see it.
const WRAPPER: &str = r#"trap : HUP INT QUIT TERM
if [ "$2" = apart ]; then exec 3>&2; else exec 3>&1; fi
exec 2>/dev/null
[ "$3" = sh ] || command -v bash >/dev/null 2>&1 || {
  printf '\036%s nobash\n' "$1"
  exit 127
}
_hermes_stat=
read -r _hermes_stat </proc/$$/stat
printf '\036%s start %s %s\n' "$1" "$$" "${_hermes_stat##*) }"
case "$3" in
sh) (exec sh -c "$4" sh 2>&3 3>&-) ;;
login) (exec bash -l -c "$4" bash 2>&3 3>&-) ;;
*) (exec bash -c "$4" bash 2>&3 3>&-) ;;
esac
printf '\036%s exit %s\n' "$1" "$?""#;

/// The program to run for a script.
pub(crate) fn wrapped(mark: &str, apart: bool, dialect: Dialect, script: String) -> Vec<String> {
    let shell = match dialect {
        Dialect::Bash => "bash",
        Dialect::BashLogin => "login",
        Dialect::Posix => "sh",
    };
    let apart = if apart { "apart" } else { "merged" };
    let mut argv: Vec<String> =
        ["sh", "-c", WRAPPER, "sh", mark, apart, shell].map(str::to_owned).to_vec();
    argv.push(script);
    argv
}

/// The script that runs the one in a file, and removes that before.
pub(crate) fn from_file(path: &str) -> String {
    format!("eval \"$(cat '{path}'; rm -f '{path}')\"")
}
