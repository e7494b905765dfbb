//! Passwords for `sudo`: a helper that `sudo -A` asks, so that the password is in no argument, in
//! no variable and in no state of the session.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use hermes_environments::Lease;
use hermes_exec::environment::{Dialect, Exit, Start, StartFailure, Stdin};
use hermes_exec::session::quote;
use hermes_exec_policy::config::Backend;
use hermes_registry::ToolContext;
use hermes_terminal::sudo_count;

use crate::plan::Plan;

/// How long a person may take to type a password.
const TYPING: Duration = Duration::from_secs(45);

/// How long it may take to find out whether sudo wants a password.
const ASKING: Duration = Duration::from_secs(3);

/// A question for a password.
#[derive(Clone, Copy, Debug)]
pub struct PasswordAsk<'a> {
    /// The command that wants it, as the model wrote it.
    pub command: &'a str,
    /// The kind of machine that it runs on, as in `terminal.backend`.
    pub backend: &'a str,
    /// How long the answer is waited for.
    pub limit: Duration,
}

/// Somebody who can be asked for a password: `cx.service::<dyn PasswordPrompt>()`.
pub trait PasswordPrompt: Send + Sync {
    /// Asks for the password that `sudo` wants. None if there is no answer. Dropped when the time
    /// is over, or the call is given up.
    fn ask<'a>(
        &'a self,
        asked: PasswordAsk<'a>,
        cx: &'a ToolContext,
    ) -> Pin<Box<dyn Future<Output = Option<String>> + Send + 'a>>;
}

/// A helper on the machine that gives `sudo` the password, for one command.
pub(crate) struct Askpass {
    helper: String,
}

impl Askpass {
    /// For a command that calls `sudo`, if there is a password.
    pub(crate) async fn of(
        plan: &Plan,
        lease: &Lease,
        cx: &ToolContext,
    ) -> Result<Option<Self>, StartFailure> {
        // Most commands don't even hold the word.
        if !plan.command.contains("sudo") || sudo_count(&plan.command) == 0 {
            return Ok(None);
        }
        let Some(password) = password(plan, lease, cx).await else { return Ok(None) };
        // The folder for the helper is there then.
        lease.session().ready().await?;
        let folder = lease.session().folder();
        let helper = unique(&format!("{folder}/askpass"));
        let script = format!(
            "umask 077; cat >{helper}.txt && \
             printf '#!/bin/sh\\nexec cat %s\\n' {text} >{helper} && chmod 700 {helper}",
            helper = quote(&helper),
            text = quote(&quote(&format!("{helper}.txt"))),
        );
        let start = Start {
            dialect: Dialect::Posix,
            stdin: Stdin::Bytes(format!("{password}\n").into_bytes()),
            ..Start::new(script)
        };
        let exit = lease.session().environment().start(start).await?.handle.wait().await;
        match exit {
            Exit::Code(0) => Ok(Some(Self { helper })),
            _ => Err(StartFailure::new("the helper for sudo's password can't be written")),
        }
    }

    /// The variable by which `sudo` finds it.
    pub(crate) fn variable(&self) -> (String, String) {
        ("SUDO_ASKPASS".to_owned(), self.helper.clone())
    }

    /// Removes it.
    pub(crate) async fn remove(self, lease: &Lease) {
        let helper = quote(&self.helper);
        let start =
            Start { dialect: Dialect::Posix, ..Start::new(format!("rm -f {helper} {helper}.txt")) };
        if let Ok(running) = lease.session().environment().start(start).await {
            running.handle.wait().await;
        }
    }
}

fn unique(base: &str) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{base}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The configured password, even an empty one; the one that was typed before; or one that somebody
/// types now.
async fn password(plan: &Plan, lease: &Lease, cx: &ToolContext) -> Option<String> {
    if let Some(password) = cx.settings().env("SUDO_PASSWORD") {
        return Some(password.to_owned());
    }
    let session = session(cx);
    if let Some(password) = plan.terminals.password(session) {
        return Some(password);
    }
    if matches!(plan.config.backend, Backend::Local(_)) && needs_none(lease).await {
        return None;
    }
    let prompt = cx.service::<dyn PasswordPrompt>()?;
    let _person = cx.wait_for_person();
    let asked =
        PasswordAsk { command: &plan.command, backend: plan.config.backend.name(), limit: TYPING };
    let asking = tokio::time::timeout(TYPING, prompt.ask(asked, cx));
    let password = tokio::select! {
        password = asking => password.ok().flatten()?,
        () = cx.cancel().cancelled() => return None,
    };
    plan.terminals.set_password(session, Some(password.clone()));
    Some(password)
}

/// Whose password it is. Never another session's.
pub(crate) fn session(cx: &ToolContext) -> &str {
    let ids = cx.ids();
    if ids.session.is_empty() { &ids.task } else { &ids.session }
}

/// Whether `sudo` works without a password.
async fn needs_none(lease: &Lease) -> bool {
    let start = Start { dialect: Dialect::Posix, ..Start::new("exec sudo -n true") };
    let Ok(running) = lease.session().environment().start(start).await else { return false };
    let exit = tokio::time::timeout(ASKING, running.handle.wait()).await;
    exit == Ok(Exit::Code(0))
}
