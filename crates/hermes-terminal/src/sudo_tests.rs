//! Which `sudo` counts, and what bash gets.

use super::*;
use proptest::prelude::*;

#[test]
fn counts() {
    for (command, count) in [
        ("sudo ls", 1),
        ("echo sudo", 0),
        ("sudo a && sudo b", 2),
        ("echo 'sudo x'", 0),
        ("echo \"sudo x\"", 0),
        ("x | sudo tee f", 1),
        ("a # sudo x", 0),
        ("echo a\nsudo b", 1),
        ("if sudo x; then echo y; fi", 1),
        ("for i in 1 2; do sudo x; done", 1),
        ("A=1 sudo x", 1),
        ("! sudo x", 1),
        ("{ sudo x; }", 1),
        ("(sudo x)", 1),
        ("while sudo x; do y; done", 1),
        ("until sudo x; do y; done", 1),
        ("if a; then b; elif sudo c; then d; else sudo e; fi", 2),
        ("time sudo x", 1),
        ("time -p sudo x", 1),
        ("echo $(sudo x) `sudo y`", 2),
        ("echo \"$(sudo x)\"", 1),
        ("cat <<E\nsudo x\nE", 0),
        ("cat <<E\nx\nE\nsudo y", 1),
        ("case x in x) sudo y;; esac", 1),
        ("f() { sudo x; }", 1),
        ("/usr/bin/sudo x", 1),
        ("sudo", 1),
        ("sudoedit f", 0),
        ("./sudo.sh", 0),
        ("sudo a; sudo b & sudo c || sudo d\n", 4),
        ("which sudo", 0),
        ("[[ sudo ]]", 0),
        ("for sudo in a; do b; done", 0),
        ("a=sudo", 0),
        ("", 0),
    ] {
        assert_eq!(sudo_count(command), count, "{command}");
    }
}

#[test]
fn prepared() {
    for (command, expected) in [
        ("sudo ls", "sudo -A ls"),
        ("sudo -u bob ls && sudo -n b", "sudo -A -u bob ls && sudo -n b"),
        ("sudo -S ls", "sudo -S ls"),
        ("sudo -uA ls", "sudo -A -uA ls"),
        ("sudo -EA ls", "sudo -EA ls"),
        ("sudo --stdin ls", "sudo --stdin ls"),
        ("sudo -- ls -S", "sudo -A -- ls -S"),
        ("sudo ls -S", "sudo -A ls -S"),
        ("cat <<E\nsudo x\nE\nsudo y", "cat <<E\nsudo x\nE\nsudo -A y"),
        ("echo `sudo x` \"$(sudo y)\"", "echo `sudo -A x` \"$(sudo -A y)\""),
        ("'sudo' x", "'sudo' -A x"),
        ("su\\\ndo x", "su\\\ndo -A x"),
        ("A=1 && sleep 0 &\nwait", "A=1 && sleep 0 &\nwait"),
        ("cd / && sleep 0 & echo z; wait", "cd / && sleep 0 & echo z; wait"),
        ("sudo\nls", "sudo -A\nls"),
        ("é=1; sudo é", "é=1; sudo -A é"),
    ] {
        assert_eq!(prepare_command(command), expected, "{command}");
        assert_eq!(prepare_command(expected), expected, "{expected}");
    }
}

#[test]
fn what_sudo_says() {
    assert!(sudo_auth_failed("sudo: 3 incorrect password attempts"));
    assert!(sudo_auth_failed("Authentication failed"));
    assert!(!sudo_auth_failed("ok"));
    assert!(sudo_needs_password("sudo: A terminal is required to read the password"));
    assert!(!sudo_needs_password("ok"));
}

proptest! {
    #[test]
    fn prepared_once_and_for_all(parts in prop::collection::vec(prop_oneof![
        Just("sudo"), Just("-n"), Just("-A"), Just("a"), Just("\n"), Just("&&"), Just("&"),
        Just(";"), Just("'"), Just("\""), Just("$("), Just(")"), Just("`"), Just("<<E"), Just("E"),
        Just("{"), Just("}"), Just("if"), Just("then"), Just("#"), Just("\\"), Just("é"),
    ], 0..14), glue in prop::sample::select(vec!["", " "])) {
        let command = parts.join(glue);
        let prepared = prepare_command(&command);
        prop_assert_eq!(prepare_command(&prepared), prepared.as_str());
        // Of a text without an end the shell runs some lines at most; where a name ends isn't sure.
        if outline(&command).is_complete {
            prop_assert_eq!(sudo_count(&prepared), sudo_count(&command));
        }
    }
}
