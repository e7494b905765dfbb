//! A stand-in for apptainer with an image, in a folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_exec::environment::{Exit, Running};
use hermes_exec::program::Program;
use hermes_exec_singularity::Options;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

pub(crate) struct World {
    dir: TempDir,
}

impl World {
    /// None where the stand-in can't work, with a word about it.
    pub(crate) fn new() -> Option<Self> {
        match Self::made() {
            Ok(world) => Some(world),
            Err(why) => {
                println!("skipped: {why}");
                None
            }
        }
    }

    fn made() -> Result<Self, String> {
        let dir = TempDir::new().unwrap();
        // Namespaces of its own, and a root folder of its own.
        let probe = ["unshare", "--pid", "--mount", "--fork", "nsenter", "--version"];
        let is_able = said(&probe).is_some() && said(&["chroot", "/", "true"]).is_some();
        if !is_able {
            return Err("namespaces can't be made here".to_owned());
        }
        let image = dir.path().join("image");
        make_image(&image)?;
        let bin = dir.path().join("bin");
        for folder in [&bin, &dir.path().join("state")] {
            fs::create_dir(folder).unwrap();
        }
        let shim = bin.join("apptainer");
        fs::write(&shim, include_str!("apptainer.sh")).unwrap();
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
        Ok(Self { dir })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn options(&self) -> Options {
        let at = |name: &str| self.folder().join(name).display().to_string();
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", at("bin"));
        let env = [("PATH", path), ("SECRET", "s".to_owned())];
        Options {
            image: at("image"),
            scratch: Some(self.folder().join("scratch")),
            overlays_file: self.folder().join("singularity_snapshots.json"),
            env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            ..Options::default()
        }
    }

    /// What the client was asked for.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folder().join("state/calls")).unwrap();
        calls.lines().map(str::to_owned).collect()
    }

    /// Stops an instance behind our back.
    pub(crate) async fn stop(&self, name: &str) {
        let env = self.options().env;
        let stop = Program::new(["apptainer", "instance", "stop", name]).env(env);
        stop.run().await.unwrap();
    }
}

/// What a program says, if it succeeds.
fn said(words: &[&str]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    #[expect(clippy::disallowed_methods, reason = "asks what this machine can do")]
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Busybox, and the bash of this machine with its libraries.
fn make_image(image: &Path) -> Result<(), String> {
    #[expect(clippy::disallowed_methods, reason = "a setting of the tests alone")]
    let named = std::env::var_os("HERMES_TEST_BUSYBOX").map(PathBuf::from);
    let usual = ["/usr/bin/busybox", "/bin/busybox"].map(PathBuf::from);
    let busybox = named.into_iter().chain(usual).find(|path| path.is_file());
    let busybox = busybox.ok_or("HERMES_TEST_BUSYBOX is not set, and there is no busybox")?;
    for folder in ["bin", "root", "tmp", "proc", "sys", "dev", "run"] {
        fs::create_dir_all(image.join(folder)).unwrap();
    }
    let bin = image.join("bin");
    fs::copy(&busybox, bin.join("busybox")).unwrap();
    let list = said(&[busybox.to_str().unwrap(), "--list"]).ok_or("busybox doesn't run")?;
    for name in list.lines().filter(|name| *name != "busybox") {
        symlink("busybox", bin.join(name)).unwrap();
    }
    fs::write(image.join("dev/null"), "").unwrap();
    let bash = said(&["bash", "-c", "type -P bash"]).ok_or("there is no bash")?;
    let libraries = said(&["ldd", bash.trim()]).ok_or("the libraries of bash aren't known")?;
    let files = libraries.split_ascii_whitespace().filter(|word| word.starts_with('/'));
    for file in files {
        let target = image.join(file.trim_start_matches('/'));
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
    let _ = fs::remove_file(bin.join("bash"));
    fs::copy(bash.trim(), bin.join("bash")).unwrap();
    Ok(())
}

/// All that a command says, and how it ends.
pub(crate) async fn finish(mut running: Running) -> (String, Exit) {
    let mut output = Vec::new();
    // A terminal may end with an error.
    let _ = running.output.read_to_end(&mut output).await;
    let exit = running.handle.wait().await;
    running.handle.release();
    (String::from_utf8_lossy(&output).into_owned(), exit)
}
