//! The script around a command: restores the session's state, runs the command, saves the state.
//!
//! After the first line only builtins of bash are used, and each by name, since a session may have
//! functions and aliases called `cd` or `export` and a `PATH` with nothing in it. Bash 3.2 suffices.

use super::quote::{expandable, folder, quote};
use crate::remote::is_name;

/// A command and what surrounds it.
pub(super) struct Wrapper<'a> {
    pub(super) command: &'a str,
    /// Where it starts: the folder, which may begin with `~`.
    pub(super) cwd: &'a str,
    /// The file of the state that it starts from.
    pub(super) state: Option<String>,
    /// Whether the shell starts without variables of its own.
    pub(super) is_bare: bool,
    /// Names of variables that are the command's own.
    pub(super) names: &'a [String],
    /// Where its state goes.
    pub(super) save: Option<Save>,
}

/// Where the state of a command goes.
#[derive(Clone, Debug)]
pub(super) struct Save {
    /// The file of the state.
    pub(super) state: String,
    /// The way by which the end is told.
    pub(super) report: Report,
}

/// How the wrapper tells where the command ended.
#[derive(Clone, Debug)]
pub(super) enum Report {
    /// In a file.
    File(String),
    /// In the output, between two of these.
    Marker(String),
}

/// Said in a report when the folder could not be entered.
pub(super) const NOT_ENTERED: &str = "n-";

/// Said second in a report when the command ended in the folder that it started in.
pub(super) const STAYED: &str = "-";

/// Said in a report when the state is another one than before.
pub(super) const CHANGED: char = 'c';

/// Said in a report when the state is the same as before.
pub(super) const SAME: char = 's';

/// Said in a report when the state could not be written.
pub(super) const UNKEPT: char = 'u';

/// Said in a report when the state that the command was to start from is gone: nothing ran.
pub(super) const GONE: &str = "g-";

/// The end of a state that was written whole.
pub(super) const WHOLE: &str = "# whole";

impl Wrapper<'_> {
    /// The whole script.
    pub(super) fn script(&self) -> String {
        let mut script = self.beginning();
        if let Some(state) = &self.state {
            let state = quote(state);
            if !self.is_bare {
                let own = self.names.join("|");
                let gone = match &self.save {
                    Some(save) => format!("else {}; builtin exit 126; ", save.report.say(GONE)),
                    // Nobody would hear of it, and the machine's own variables are there.
                    None => String::new(),
                };
                script.push_str(&format!(
                    "if [[ -r {state} ]]; then for __hermes_name in $(builtin compgen -e); do case \
                     $__hermes_name in {own}) ;; *) builtin unset \"$__hermes_name\";; esac; done \
                     2>/dev/null; {gone}fi\n"
                ));
            }
            script.push_str(&format!("builtin . {state} 2>/dev/null\n"));
        }
        self.push_rest(&mut script);
        script.push_str(LAST);
        script
    }

    /// The script for a shell that has the state already, and reads this from its stdin. None where
    /// one of the command's own variables can't be set by it.
    pub(super) fn continuation(&self, env: &[(String, String)]) -> Option<String> {
        let mut script = String::from("builtin exec </dev/null\nSECONDS=0\n");
        // A file that was away for a moment is back.
        script.push_str(
            "if [[ -n ${__hermes_state-} ]]; then { builtin . \"$__hermes_state\"; builtin unset \
             __hermes_state; } 2>/dev/null; fi\n",
        );
        for (name, value) in env {
            if !is_name(name) {
                return None;
            }
            script.push_str(&format!("builtin export {name}={}\n", quote(value)));
        }
        script.push_str(&self.beginning());
        self.push_rest(&mut script);
        Some(script)
    }

    /// What comes before the state.
    fn beginning(&self) -> String {
        let mut script = String::with_capacity(self.command.len() + 2048);
        if let Some(save) = &self.save {
            self.push_end(&mut script, save);
        }
        script
    }

    /// What comes after the state and before the last line.
    fn push_rest(&self, script: &mut String) {
        // After the state, which has an idea of the folder as well.
        let cwd = folder(self.cwd);
        let said = "builtin echo \"the folder can't be entered\" >&2; builtin exit 126";
        let not_entered = match &self.save {
            Some(save) => format!("{{ {}; {said}; }}", save.report.say(NOT_ENTERED)),
            None => format!("{{ {said}; }}"),
        };
        script.push_str(&format!(
            "builtin cd -P -- {cwd} 2>/dev/null || {not_entered}\n__hermes_from=$PWD\n"
        ));
        if self.save.is_some() {
            script.push_str(&format!("builtin trap '{AT_END}' EXIT\n"));
            if sets_exit_trap(self.command) {
                script.push_str(&format!("__hermes_at_end='{AT_END}'\n{TRAP}"));
            }
        }
        script.push_str(&format!("__hermes_command={}\n", quote(self.command)));
        // Options last: aliases must not change how the rest is read, nor errexit how it is run.
        script.push_str(if self.state.is_some() { OPTIONS } else { FIRST_OPTIONS });
    }

    /// The function that saves the state at the end, whatever the end is.
    fn push_end(&self, script: &mut String, save: &Save) {
        let state = quote(&save.state);
        let same = match (&self.state, &save.report) {
            // Who reads the report can compare the files as well, and without a shell's forks.
            (_, Report::File(_)) | (None, _) => String::new(),
            (Some(old), Report::Marker(_)) => format!(
                "[[ $__hermes_how == {UNKEPT} || $(<{old}) != \"$(<{state})\" ]] || \
                 __hermes_how={SAME}\n",
                old = quote(old)
            ),
        };
        let own = self.names.join(" ");
        let told = save.report.say("$__hermes_how");
        script.push_str(&format!(
            r#"__hermes_exit= __hermes_traps=
__hermes_end() {{
  {{
    builtin set +aefnuvx +o posix
    builtin enable alias declare echo eval exit export printf pwd return trap umask unset
    builtin trap - DEBUG ERR RETURN EXIT
    builtin unset -f __hermes_end $__hermes_traps
    builtin export -n __hermes_{{code,exit,command,set,shopt,how,from}} {own}
    {{
      builtin export -p; builtin declare -f; builtin alias -p; builtin umask -p
      builtin echo "__hermes_set=$__hermes_set __hermes_shopt=$__hermes_shopt {WHOLE}"
    }} >|{state} && __hermes_how={CHANGED} || __hermes_how={UNKEPT}
    {same}
  }} 2>/dev/null
  if [[ . -ef $__hermes_from ]]; then __hermes_how+={STAYED}; else __hermes_how+=+; fi
  {told}
  if [[ -n $__hermes_exit ]]; then
    __hermes_is() {{ builtin return "$__hermes_code"; }}
    __hermes_is
    builtin eval "$__hermes_exit"
  fi
  builtin exit "$__hermes_code"
}}
"#
        ));
    }
}

/// What the shell does at its end. The first of it isn't traced, whatever the command switched on.
const AT_END: &str = "{ __hermes_code=$? __hermes_set=$SHELLOPTS __hermes_shopt=$BASHOPTS; \
                      \\builtin set +xv; } 2>/dev/null; __hermes_end";

/// Puts the options of the state in force, where they aren't the ones of a new shell.
const OPTIONS: &str = r#"if [[ $__hermes_set/${__hermes_shopt/expand_aliases:} == "$SHELLOPTS/$BASHOPTS" ]]; then
  if [[ $__hermes_shopt == *expand_aliases:* ]]; then builtin shopt -s expand_aliases; fi
elif [[ $__hermes_set/$__hermes_shopt != "$SHELLOPTS/$BASHOPTS" ]]; then
  __hermes_options() {
    local IFS=: name
    for name in $BASHOPTS; do builtin shopt -u "$name"; done
    for name in $__hermes_shopt; do builtin shopt -s "$name"; done
    builtin unset -f __hermes_options
    for name in $SHELLOPTS; do builtin set +o "$name"; done
    for name in $__hermes_set; do
      case $name in
        # In force, it would be the end of everything.
        noexec) ;;
        # For the command alone.
        xtrace|verbose) __hermes_command="builtin set -o $name"$'\n'"$__hermes_command";;
        *) builtin set -o "$name";;
      esac
    done
  }
  __hermes_options 2>/dev/null
fi
"#;

/// The option that a session begins with.
const FIRST_OPTIONS: &str = "builtin shopt -s expand_aliases\n";

/// The last line, which runs the command; not even an alias called `eval` comes between.
///
/// Whoever passes a script on by a file should source what is before this line, and run it from
/// the shell's `-c`: what bash says of errors begins with the name of the file that they are in.
pub(crate) const LAST: &str = "\\builtin \\eval \"$__hermes_command\"\n";

impl Report {
    /// Shell that tells `how`, and where it is.
    fn say(&self, how: &str) -> String {
        let cwd = "{ builtin pwd -P 2>/dev/null || builtin echo \"$PWD\"; }";
        match self {
            Self::File(file) => {
                let file = quote(file);
                format!("{{ {{ builtin printf %s \"{how}\"; {cwd}; }} >|{file}; }} 2>/dev/null")
            }
            // Not into a file that the command has put in the place of its stdout for good.
            Self::Marker(marker) => format!(
                "if [[ -p /dev/fd/1 || -S /dev/fd/1 ]]; then builtin printf '\\n%s%s' {marker} \
                 \"{how}\"; {cwd}; builtin echo {marker}; fi"
            ),
        }
    }
}

/// Stands before the builtin `trap` in commands that seem to set a trap for their end: that one is
/// the wrapper's, which runs the command's own after it.
const TRAP: &str = r#"__hermes_traps=trap
trap() {
  if ((BASH_SUBSHELL)); then builtin trap "$@"; builtin return; fi
  [[ ${1-} != -- ]] || builtin shift
  if [[ $# -eq 0 || $1 == -p || $1 == -l ]]; then
    [[ -z $__hermes_exit || ${1-} == -l ]] || builtin printf 'trap -- %q EXIT\n' "$__hermes_exit"
    builtin trap - EXIT; builtin trap "$@"; builtin trap "$__hermes_at_end" EXIT; builtin return
  fi
  if [[ $# -eq 1 ]]; then builtin set -- - "$1"; fi
  local action=$1 signal status=0
  builtin shift
  for signal; do
    case $signal in
      EXIT|exit|SIGEXIT|0) if [[ $action == - ]]; then __hermes_exit=; else __hermes_exit=$action; fi;;
      *) builtin trap -- "$action" "$signal" || status=$?;;
    esac
  done
  builtin return $status
}
"#;

/// Whether a command may set a trap for its end. Others are spared the function above, which can't
/// do everything that the builtin does.
fn sets_exit_trap(command: &str) -> bool {
    command.contains("trap")
        && (["EXIT", "exit"].iter().any(|name| command.contains(name))
            || command.split_ascii_whitespace().any(|word| word.trim_matches(';') == "0"))
}

/// The command that begins a session: it makes the folder for the state, and sources files.
pub(super) fn first(session: &str, files: &[String]) -> String {
    let session = quote(session);
    let mut script = format!("[ -d {session} ] || mkdir -m 700 -- {session}\n");
    if !files.is_empty() {
        let words: Vec<String> = files.iter().map(|file| expandable(file)).collect();
        script.push_str(&format!(
            "for __hermes_file in {}; do if [ -r \"$__hermes_file\" ]; then . \
             \"$__hermes_file\"; fi; done </dev/null >/dev/null 2>&1\n",
            words.join(" ")
        ));
    }
    script.push_str("unset __hermes_file\nset +eux\nshopt -s expand_aliases\n");
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traps_for_the_end_are_seen() {
        for (command, expected) in [
            ("trap 'x' EXIT", true),
            ("trap x 0; y", true),
            ("trap - exit", true),
            ("trap x INT", false),
            ("exit 0", false),
            ("echo strap", false),
        ] {
            assert_eq!(sets_exit_trap(command), expected, "{command}");
        }
    }
}
