//! A place for commands, and what they are confined by.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{fs, io};

use hermes_confine::{Confinement, Mechanism, Mode, Probe, Rules};

/// A folder to write in, `w`, beside one that is closed, `other`.
pub(crate) struct World {
    _dir: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) output: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["w/tmp", "other"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("other/old"), "old").unwrap();
        Self { _dir: dir, root }
    }

    pub(crate) fn w(&self) -> PathBuf {
        self.root.join("w")
    }

    /// Only `w` may be changed, temporary files included.
    pub(crate) fn rules(&self) -> Rules {
        Rules { writable: vec![self.w()], ..Rules::default() }
    }
}

/// The file of bubblewrap, if there is one.
fn bubblewrap() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where a program is, told by who runs the tests")]
    let named = std::env::var_os("HERMES_TEST_BWRAP");
    named.map(PathBuf::from).or_else(|| Some("/usr/bin/bwrap".into())).filter(|it| it.exists())
}

/// What this machine has, each with its probe. Says what is left out, and why.
pub(crate) fn mechanisms() -> Vec<(Mechanism, Probe)> {
    let kernel = Probe::new(None);
    let both = Probe::new(bubblewrap().as_deref());
    let mut found = Vec::new();
    match (kernel.landlock(), kernel.seccomp()) {
        (Ok(_), Ok(())) => found.push((Mechanism::Landlock, kernel)),
        (landlock, seccomp) => eprintln!("skipped with Landlock: {landlock:?}, {seccomp:?}"),
    }
    match both.bubblewrap() {
        Ok(_) => found.push((Mechanism::Bubblewrap, both)),
        Err(reason) => eprintln!("skipped with bubblewrap: {reason}"),
    }
    found
}

/// Rules that a mechanism makes hold.
pub(crate) fn choose(rules: &Rules, probe: &Probe) -> Confinement {
    Confinement::choose(Mode::Auto, rules, probe).unwrap()
}

/// Does something with each mechanism, in a new world.
pub(crate) fn each(run: impl Fn(Mechanism, &Probe, &World)) {
    for (mechanism, probe) in mechanisms() {
        eprintln!("{mechanism:?}");
        run(mechanism, &probe, &World::new());
    }
}

/// Words to run a script of bash.
pub(crate) fn bash(script: &str) -> Vec<OsString> {
    ["/bin/bash", "-c", script].map(OsString::from).to_vec()
}

#[expect(clippy::disallowed_methods, reason = "what is tested is how processes start")]
pub(crate) fn command(argv: &[OsString], cwd: &Path) -> std::process::Command {
    let (program, args) = argv.split_first().unwrap();
    let mut command = std::process::Command::new(program);
    command.args(args).current_dir(cwd).env("TMPDIR", cwd.join("tmp")).stdin(Stdio::null());
    command
}

/// Runs a script in `w` and waits for its end.
pub(crate) fn run(confinement: &Confinement, world: &World, script: &str) -> Ended {
    let cwd = world.w();
    let script = format!("exec 2>&1\n{script}");
    let spawn = |argv: Vec<OsString>| -> io::Result<_> {
        command(&argv, &cwd).stdout(Stdio::piped()).spawn()
    };
    let child = confinement.start(bash(&script), spawn).unwrap();
    let output = child.wait_with_output().unwrap();
    let code = output.status.code().unwrap_or(-1);
    Ended { code, output: String::from_utf8_lossy(&output.stdout).into_owned() }
}

/// Runs a script that must succeed.
pub(crate) fn works(confinement: &Confinement, world: &World, script: &str) -> String {
    let ended = run(confinement, world, script);
    assert_eq!(ended.code, 0, "{:?}: {script}\n{}", confinement.report(), ended.output);
    ended.output
}

/// Runs a script that must be refused something, and gives what is said about that.
pub(crate) fn refused(confinement: &Confinement, world: &World, script: &str) -> String {
    let ended = run(confinement, world, script);
    assert_ne!(ended.code, 0, "{:?}: {script}\n{}", confinement.report(), ended.output);
    let explained = confinement.explains(&ended.output, ended.code, &world.w());
    let report = confinement.report();
    explained.unwrap_or_else(|| panic!("{report:?}: {script}\n{} {}", ended.code, ended.output))
}
