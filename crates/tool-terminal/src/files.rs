//! What a command does to files that the session knows.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_exec_policy::config::Backend;
use hermes_file_state::{CommandWatch, FileState, Stamp, command_note, task_of};
use hermes_registry::ToolContext;

use crate::plan::Plan;

/// Files of this machine that the session knew when a command began.
pub(crate) struct Files {
    state: Arc<FileState>,
    watch: CommandWatch,
}

impl Files {
    /// Before a command. None where nobody keeps such a state, or the files are elsewhere: looking
    /// at them would cost more than the command.
    pub(crate) fn begin(plan: &Plan, cx: &ToolContext) -> Option<Self> {
        let state = cx.service::<FileState>()?;
        if !matches!(plan.config.backend, Backend::Local(_)) {
            return None;
        }
        let watch = state.command_begins(task_of(cx.ids()), "local", Stamp::local_again);
        Some(Self { state, watch })
    }

    /// After it: a note about the files that it changed.
    pub(crate) fn end(self) -> Option<String> {
        let changed: Vec<PathBuf> = self.state.command_ended(self.watch, Stamp::local_again);
        command_note(&changed)
    }
}
