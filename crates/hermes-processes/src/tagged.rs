//! Processes of this machine by the variable that all of a command inherit.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use hermes_exec::program::{Stranger, tag_of};

/// A process that carries the variable of a command.
pub(crate) struct Tagged {
    pub(crate) stranger: Stranger,
    pub(crate) tag: Vec<u8>,
    /// Its arguments, each with a zero byte behind it.
    pub(crate) arguments: Vec<u8>,
}

/// Processes of this user that belong to commands.
pub(crate) async fn all() -> Vec<Tagged> {
    hermes_task::spawn_blocking(look).await.unwrap_or_default()
}

fn look() -> Vec<Tagged> {
    let Ok(user) = fs::metadata("/proc/self").map(|it| it.uid()) else { return Vec::new() };
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let one = |pid: u32| {
        let folder = format!("/proc/{pid}");
        // First: whoever gets the number later isn't taken for it.
        let stranger = Stranger::now(pid)?;
        let is_own = fs::metadata(&folder).ok()?.uid() == user;
        let tag = tag_of(pid).filter(|_| is_own)?;
        let arguments = fs::read(format!("{folder}/cmdline")).unwrap_or_default();
        Some(Tagged { stranger, tag, arguments })
    };
    pids.filter_map(one).collect()
}

/// Ends processes and what they started. Returns how many of them there were.
pub(crate) async fn end(processes: impl Iterator<Item = &Tagged>, grace: Duration) -> usize {
    let ending: Vec<_> = processes
        .map(|it| {
            let stranger = it.stranger;
            hermes_task::spawn(async move { stranger.terminate(grace).await })
        })
        .collect();
    let count = ending.len();
    for ending in ending {
        let _ = ending.await;
    }
    count
}
