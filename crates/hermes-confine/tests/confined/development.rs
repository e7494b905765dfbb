//! What developers do all day.

use std::fs;

use hermes_confine::Rules;

use crate::world::{World, choose, each, refused, run, works};

fn has(program: &str, world: &World) -> bool {
    let off = hermes_confine::Confinement::choose(
        hermes_confine::Mode::Off,
        &Rules::default(),
        &hermes_confine::Probe::new(None),
    );
    let there = run(&off.unwrap(), world, &format!("command -v {program}")).code == 0;
    if !there {
        eprintln!("skipped: there is no {program}");
    }
    there
}

#[test]
fn shells_and_devices() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        for (script, expected) in [
            ("cat <<E\nhere\nE", "here\n"),
            ("cat <<< \"$(seq 40000)\" | tail -1", "40000\n"),
            ("cat <(echo a) <(echo b)", "a\nb\n"),
            ("echo x > /dev/null; echo y >> /dev/null; echo z | tee /dev/null", "z\n"),
            (
                "echo out > /dev/stdout; echo err > /dev/stderr; echo fd > /dev/fd/1",
                "out\nerr\nfd\n",
            ),
            ("head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c", "3\n3\n"),
            ("echo x > /dev/shm/$$.x && rm /dev/shm/$$.x; echo ok", "ok\n"),
            ("f=$(mktemp); echo ok > $f; cat $f; rm $f", "ok\n"),
            ("ls /proc/self/fd > /dev/null && cat /proc/self/comm", "cat\n"),
            ("sleep 60 & kill $!; wait $!; echo $?", "143\n"),
            ("ulimit -n 64; ulimit -n", "64\n"),
        ] {
            // What is redirected to the terminal's names may overtake.
            assert_eq!(works(&confinement, world, script), expected, "{script}");
        }
    });
}

#[test]
fn a_terminal_of_its_own() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        let script = "python3 -c '
import os, pty
status = pty.spawn([\"bash\", \"-c\", \"test -t 0 && stty -echo && echo hi > /dev/tty\"])
os._exit(status >> 8)'";
        assert!(works(&confinement, world, script).contains("hi"));
    });
}

#[test]
fn processes_of_python() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        for method in ["fork", "spawn", "forkserver"] {
            let program = format!(
                "import multiprocessing as m\nif __name__ == '__main__':\n    m.set_start_method('{method}')\n    \
                 with m.Pool(2) as pool:\n        print(pool.map(abs, [-1, -2]))\n"
            );
            fs::write(world.root.join("w/pool.py"), program).unwrap();
            assert_eq!(works(&confinement, world, "python3 pool.py"), "[1, 2]\n", "{method}");
        }
    });
}

#[test]
fn git_commits() {
    each(|_, probe, world| {
        let home = "export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b \
                    GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; set -e;";
        let init = format!("{home} git init -q -b main .; echo a > a; git add a; git commit -qm a");
        works(&choose(&world.rules(), probe), world, &init);
        // Now with hooks and configuration protected.
        let confinement = choose(&Rules::of_folder(&world.w(), None), probe);
        let script = format!(
            "{home} git checkout -qb other; echo b >> a; git commit -qam b; git checkout -q main; \
             git merge -q other; git stash list; git gc -q; git status --short a; git log --format=%s"
        );
        assert_eq!(works(&confinement, world, &script), "b\na\n");
    });
}

#[test]
fn a_work_tree_of_git_commits_to_where_its_data_are() {
    each(|_, probe, world| {
        let home = "export HOME=/nowhere GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a \
                    GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; set -e;";
        let open = choose(&Rules { writable: vec![world.root.clone()], ..Rules::default() }, probe);
        let make = format!(
            "{home} git init -q -b main ../main; cd ../main; git commit -qm a --allow-empty; \
             git worktree add -q ../w/tree"
        );
        works(&open, world, &make);
        let tree = world.root.join("w/tree");
        let rules = Rules { writable: Vec::new(), ..Rules::of_folder(&tree, None) };
        assert!(!rules.protected.is_empty());
        let mut rules = Rules::of_folder(&tree, None);
        rules.writable.retain(|it| it.starts_with(&world.root));
        let confinement = choose(&rules, probe);
        let script =
            format!("{home} cd tree; echo b > b; git add b; git commit -qm b; git log --format=%s");
        assert_eq!(works(&confinement, world, &script), "b\na\n");
        refused(&confinement, world, "echo x > ../main/x");
    });
}

#[test]
fn cargo_builds() {
    each(|_, probe, world| {
        if !has("cargo", world) {
            return;
        }
        let project = world.root.join("w/project");
        fs::create_dir_all(project.join("src")).unwrap();
        let manifest = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        fs::write(project.join("Cargo.toml"), manifest).unwrap();
        fs::write(project.join("src/main.rs"), "fn main() { println!(\"built\"); }\n").unwrap();
        let script = "cd project; export CARGO_TARGET_DIR=target; cargo run -q --offline";
        assert_eq!(works(&choose(&world.rules(), probe), world, script), "built\n");
    });
}

#[test]
fn npm_runs_scripts() {
    each(|_, probe, world| {
        if !has("npm", world) {
            return;
        }
        let manifest = r#"{"name": "p", "scripts": {"x": "node -e \"console.log('ran')\""}}"#;
        fs::write(world.root.join("w/package.json"), manifest).unwrap();
        let script = "export HOME=$PWD; npm run -s x";
        assert_eq!(works(&choose(&world.rules(), probe), world, script), "ran\n");
    });
}
