//! Tests of what is worth a snapshot.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(destructive: bool, commands: &[&str]) {
    for command in commands {
        assert_eq!(is_destructive(command), destructive, "{command}");
    }
}

#[test]
fn commands_by_name() {
    check(
        true,
        &[
            "rm x",
            "/bin/rm -rf build",
            "\\rm x",
            "'rm' x",
            "r\"m\" x",
            "cd a && rm x",
            "cd a; rm x",
            "ls | xargs rm",
            "true || mv a b",
            "sleep 1 & cp a b",
            "echo a\nrmdir b",
            "unlink f",
            "truncate -s 0 log",
            "dd if=/dev/zero of=f",
            "shred -u f",
            "install -m 755 a /usr/bin/a",
            "ln -sf a b",
            "tee out.txt",
            "make | tee build.log",
            "find . -name '*.o' -delete",
            "find . -name x -exec rm {} \\;",
            "find . -execdir sudo rm {} +",
            "find . -exec grep x {} \\; -exec mv {} /tmp \\;",
            "gawk -i inplace '{print}' f",
        ],
    );
    check(
        false,
        &[
            "",
            "ls -la",
            "rm",
            "rm --help",
            "npm install left-pad",
            "pip install x",
            "cargo rm serde",
            "docker rm x",
            "echo rm x",
            "man rm",
            "grep rm file",
            "./rm.sh x",
            "firm x",
            "rm-stale x",
            "ln -s a b",
            "tee",
            "make | tee -a build.log",
            "make | tee --append build.log",
            "ls | tee /dev/stderr",
            "find . -name rm",
            "find . -exec grep rm {} \\;",
            "command -v rm",
            "which rm",
            "cat f # rm x",
            "# rm x",
            "a=rm b",
        ],
    );
}

#[test]
fn editing_in_place() {
    check(
        true,
        &[
            "sed -i s/a/b/ f",
            "sed -i.bak s/a/b/ f",
            "sed -ni p f",
            "sed -E -i '' s/a/b/ f",
            "sed --in-place s/a/b/ f",
            "sed --in-place=.bak s/a/b/ f",
            "perl -pi -e s/a/b/ f",
            "perl -i.bak -pe s/a/b/ f",
            "perl -p -i -e s/a/b/ f",
            "perl -lpi -e 1 f",
            "ruby -pi -e x f",
        ],
    );
    check(
        false,
        &[
            "sed s/a/b/ f",
            "sed -n p f",
            "sed -e 'i\\' f",
            "sed -es/i/j/ f",
            "perl -pe s/i/j/ f",
            "perl -e 'print -i'",
            "perl script.pl -i",
        ],
    );
}

#[test]
fn git() {
    check(
        true,
        &[
            "git reset --hard HEAD~1",
            "git clean -fd",
            "git checkout -- .",
            "git -C dir checkout main",
            "git -c core.pager=cat --git-dir .git reset",
            "git --git-dir=.git restore f",
            "git --no-pager rm f",
            "git stash drop",
            "git stash clear",
            "git switch -f main",
        ],
    );
    check(
        false,
        &[
            "git status",
            "git commit -m 'git reset'",
            "git -C reset status",
            "git log --oneline checkout",
            "git stash",
            "git stash list",
            "git switch main",
            "git add rm",
            "git",
        ],
    );
}

#[test]
fn redirects() {
    check(
        true,
        &[
            "echo hi > out.txt",
            "echo hi>out.txt",
            "> out.txt",
            ": >| out.txt",
            "cmd &> all.log",
            "cmd >& all.log",
            "cmd 2> err.log",
            "cmd 2>err.log",
            "cmd > \"$LOG\"",
            "cmd > \"my file\"",
            "cmd >out 2>&1",
            "cmd > /dev/sda",
            "[ 2 > 1 ]",
            "exec > log",
            "(echo a) > b",
            "{ echo a; } > b",
            "for i in 1 2; do echo $i; done > b",
            "cat <<E > f\nbody\nE\n",
            "echo $((1 + 2)) > f",
            "echo $((echo a > b); ls)",
        ],
    );
    check(
        false,
        &[
            "echo hi >> out.txt",
            "cmd &>> all.log",
            "cargo build 2>&1",
            "cmd >&2",
            "cmd 1>&2",
            "cmd 2>&-",
            "cmd >&$fd",
            "cmd > /dev/null",
            "cmd >/dev/null 2>&1",
            "cmd 2>/dev/null | wc -l",
            "cmd &>/dev/null",
            "cmd >& /dev/null",
            "cmd > '/dev/null'",
            "cmd > /dev/stderr",
            "cmd < in",
            "cmd <> f",
            "diff <(ls a) <(ls b)",
            "ls | tee >(wc -l)",
            "echo \"a > b\"",
            "echo 'a > b'",
            "echo a \\> b",
            "[[ 2 > 1 ]]",
            "echo $((2 > 1))",
            "((a > b)) && ls",
            "if (( (a > 1) + (b > 2) )); then ls; fi",
            "awk '$1 > 2' f",
            "a=(1 2 3)",
        ],
    );
}

#[test]
fn what_runs_inside() {
    check(
        true,
        &[
            "echo $(rm x)",
            "echo \"$(rm x)\"",
            "echo `rm x`",
            "echo \"`rm x`\"",
            "echo `echo \\`rm x\\``",
            "(rm x)",
            "{ rm x; }",
            "if true; then rm x; fi",
            "while read f; do rm \"$f\"; done",
            "! rm x",
            "f() { rm x; }; f",
            "function f { rm x; }",
            "case a in a) rm x;; esac",
            "echo $(case a in a) rm x;; esac)",
            "echo $(if true; then case a in a) rm x;; esac; fi)",
            "echo \"${a:-it's}\"; rm x",
            "echo ${a:-'}'}; rm x",
            "for ((i = 3; i > 0; i--)); do rm $i; done",
            "a=(1 $(rm x))",
            "echo ${a:-$(rm x)}",
            "echo \"${a:-`rm x`}\"",
            "cat <(rm x)",
            "sh -c 'rm x'",
            "bash -lc \"cd a && rm x\"",
            "bash -o pipefail -c 'rm x'",
            "bash -c 'sh -c \"rm x\"'",
            "eval rm x",
            "eval 'rm x'",
            "trap 'rm -f x' EXIT",
            "parallel rm ::: a b",
            "watch -n 1 rm x",
            "su bob -c 'rm x'",
            "bash <<E\nrm x\nE",
            "bash <<< 'rm x'",
            "cat <<E\n$(rm x)\nE",
            "cat <<E\nbody\nE\nrm x",
            "cat <<-E\n\tbody\n\tE\nrm x",
        ],
    );
    check(
        false,
        &[
            "echo '$(rm x)'",
            "echo \"\\$(rm x)\"",
            "sh -c 'ls'",
            "bash script.sh rm x",
            "sh -c 'ls' rm x",
            "cat <<E\nrm x\nE",
            "cat <<'E'\n$(rm x)\nE",
            "cat <<E\na > b \"\nE\nls",
            "cat <<< 'rm x'",
            "a=(rm x)",
            "echo ${a:-rm x}",
            "for rm in a; do ls; done",
            "echo \"rm x",
            "case a in rm) ls;; esac",
            "git commit -m \"$(cat <<'E'\nrm x > y\nE\n)\"",
            "echo $# ${#a} # > b",
        ],
    );
}

#[test]
fn wrappers() {
    check(
        true,
        &[
            "sudo rm x",
            "sudo -u bob rm x",
            "sudo -n -- rm x",
            "sudo A=1 rm x",
            "A=1 B=2 rm x",
            "env A=1 rm x",
            "env -i -u HOME rm x",
            "env -S 'rm x'",
            "nohup nice -n 5 rm x",
            "time rm x",
            "timeout 5 rm x",
            "timeout -s KILL 5s rm x",
            "stdbuf -oL rm x",
            "stdbuf -o L rm x",
            "command rm x",
            "exec rm x",
            "doas rm x",
            "flock /tmp/lock rm x",
            "flock /tmp/lock -c 'rm x'",
            "sudo -iu bob rm x",
            "sudo -ubob rm x",
            "env -uHOME rm x",
            "xargs -0 -n 1 rm -f < list",
            "xargs -I{} sh -c 'rm {}'",
            "busybox rm x",
            "/usr/bin/env /bin/rm x",
        ],
    );
    check(false, &["sudo ls rm", "env", "xargs echo rm", "timeout rm", "nice", "sudo -u rm ls"]);
}

#[test]
fn hostile_texts_take_linear_time() {
    for part in [
        "$(",
        "`",
        "\\`",
        "${",
        "((",
        "$((",
        "(",
        "\"$(",
        "'",
        "{ ",
        "<<E\n",
        "eval ",
        "find -exec ",
        "case a in ",
        "sudo ",
        "sh -c ",
        "a=(",
        "env -S ",
        "<(",
        "bash <<< ",
        "\"`",
    ] {
        let _ = is_destructive(&part.repeat(20_000));
    }
    assert!(is_destructive(&"eval ".repeat(100)), "too much to tell");
    assert!(is_destructive(&format!("{}rm x", "$(".repeat(10_000))));
}

proptest! {
    #[test]
    fn surroundings_make_no_difference(
        command in prop::sample::select(&[
            ("rm x", true), ("sed -i s/a/b/ f", true), ("git -C d reset", true), ("mv a b", true),
            ("ls -l", false), ("git status", false), ("echo 'rm x'", false), ("sed s/a/b/ f", false),
        ][..]),
        around in proptest::collection::vec(prop::sample::select(&[
            ("sudo ", ""), ("( ", ")"), ("{ ", "; }"), ("echo a && ", ""), ("", " | cat"), ("", "; ls"),
            ("if true; then ", "; fi"), ("A=1 ", ""), ("echo $( ", ")"), ("echo \"$( ", ")\""),
            ("nohup ", " &"), ("cat <<E\nit's\nE\n", ""), ("# it's\n", ""), ("timeout 5 ", " 2>&1"),
        ][..]), 0..5),
    ) {
        let (mut text, destructive) = (command.0.to_owned(), command.1);
        for (before, after) in around {
            text = format!("{before}{text}{after}");
        }
        prop_assert_eq!(is_destructive(&text), destructive, "{}", text);
    }

    #[test]
    fn any_text_is_read(text in "[-a-z$(){}'\"`;&|<>=\\\\#\n\t 0-9]{0,80}") {
        let _ = is_destructive(&text);
    }
}
