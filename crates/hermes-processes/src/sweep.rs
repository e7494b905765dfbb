//! What a killed program left behind on this machine.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use hermes_environments::Abandoned;
use hermes_exec::program::{Stranger, TAG};

use crate::processes::Processes;

/// A process that carries the variable of a command.
struct Tagged {
    pid: u32,
    tag: Vec<u8>,
    arguments: Vec<u8>,
}

impl Processes {
    /// Cleans up after earlier runs of the program that were killed: foreground commands that they
    /// had running are ended, and their files in `temporary` removed. Background processes go on.
    /// What other running programs use isn't touched, nor what has another home folder or another
    /// user.
    ///
    /// Costs a look into a folder where nothing was left. Returns how many commands were ended.
    pub async fn sweep(&self, temporary: &Path) -> usize {
        let Some(home) = self.home() else { return 0 };
        let abandoned = Abandoned::all(temporary, home);
        if abandoned.is_empty() {
            return 0;
        }
        let tagged = tagged();
        let tag_of = |pid: u32| tagged.iter().find(|it| it.pid == pid).map(|it| &it.tag);
        // Those that are to go on, whoever looks after them now, and what this program runs in.
        let recorded = self.recorded().into_iter();
        let spared: HashSet<&Vec<u8>> = recorded
            .filter(|it| it.is_alive())
            .map(|it| it.pid())
            .chain([std::process::id()])
            .filter_map(tag_of)
            .collect();
        let mut ended = HashSet::new();
        let mut ending = Vec::new();
        for it in abandoned {
            let is_of = |tag: &[u8]| tag.starts_with(it.id().as_bytes());
            // A command still runs if its shell does: what others left running on purpose stays.
            let runs = |process: &&Tagged| {
                is_of(&process.tag)
                    && !spared.contains(&process.tag)
                    && it.scripts().iter().any(|it| holds(&process.arguments, it))
            };
            let commands: HashSet<&Vec<u8>> =
                tagged.iter().filter(runs).map(|it| &it.tag).collect();
            let members = tagged.iter().filter(|it| commands.contains(&it.tag));
            for stranger in members.filter_map(|it| Stranger::now(it.pid)) {
                let grace = self.grace();
                ending.push(hermes_task::spawn(async move { stranger.terminate(grace).await }));
            }
            ended.extend(commands);
            it.remove();
        }
        for ending in ending {
            let _ = ending.await;
        }
        ended.len()
    }
}

fn holds(arguments: &[u8], path: &Path) -> bool {
    let path = path.as_os_str().as_bytes();
    arguments.windows(path.len().max(1)).any(|it| it == path)
}

/// Processes of this user that belong to commands.
fn tagged() -> Vec<Tagged> {
    let user = fs::metadata("/proc/self").map(|it| it.uid());
    let Ok(user) = user else { return Vec::new() };
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let one = |pid: u32| {
        let folder = format!("/proc/{pid}");
        let is_own = fs::metadata(&folder).ok()?.uid() == user;
        let environ = fs::read(format!("{folder}/environ")).ok().filter(|_| is_own)?;
        let name = format!("{TAG}=");
        let mut entries = environ.split(|byte| *byte == 0);
        let tag = entries.find_map(|it| it.strip_prefix(name.as_bytes()))?.to_owned();
        let arguments = fs::read(format!("{folder}/cmdline")).unwrap_or_default();
        Some(Tagged { pid, tag, arguments })
    };
    pids.filter_map(one).collect()
}
