//! What a killed program left behind on this machine.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hermes_environments::Abandoned;

use crate::processes::Processes;
use crate::tagged::{self, Tagged};

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
        let tagged = tagged::all().await;
        let tag_of = |pid: u32| tagged.iter().find(|it| it.stranger.pid() == pid).map(|it| &it.tag);
        // Those that are to go on, whoever looks after them now, and what this program runs in.
        let recorded = self.recorded().into_iter();
        let spared: HashSet<&Vec<u8>> = recorded
            .filter(hermes_exec::program::Stranger::is_alive)
            .map(|it| it.pid())
            .chain([std::process::id()])
            .filter_map(tag_of)
            .collect();
        let mut ended = HashSet::new();
        for it in abandoned {
            let is_of = |tag: &[u8]| tag.starts_with(it.id().as_bytes());
            // A command still runs if its shell does: what others left running on purpose stays.
            let runs = |process: &&Tagged| {
                is_of(&process.tag)
                    && !spared.contains(&process.tag)
                    && (it.scripts().iter().any(|it| holds(&process.arguments, it))
                        // A shell that waited for its command.
                        || holds(&process.arguments, it.folder()))
            };
            let commands: HashSet<&Vec<u8>> =
                tagged.iter().filter(runs).map(|it| &it.tag).collect();
            ended.extend(commands);
            it.remove();
        }
        let members = tagged.iter().filter(|it| ended.contains(&it.tag));
        tagged::end(members, self.grace()).await;
        ended.len()
    }
}

fn holds(arguments: &[u8], path: &Path) -> bool {
    let path = path.as_os_str().as_bytes();
    arguments.windows(path.len().max(1)).any(|it| it == path)
}
