//! The gate as tools, hosts and people meet it.
#![expect(
    clippy::unwrap_used,
    reason = "these are tests; clippy knows only the functions marked so"
)]

#[cfg(feature = "model")]
mod chat_model;
mod commands;
mod memory;
mod others;
mod queue;
#[cfg(unix)]
mod scanner;
#[cfg(feature = "model")]
#[path = "../../../hermes-net/tests/net/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;
mod smart;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hermes_approval::scanner::{
    ScanAction, ScanFinding, ScanFuture, ScanVerdict, Scanner, ScannerConfig,
};
use hermes_approval::{
    Answer, Approvals, ApprovalsBuilder, Ask, AskFuture, CommandGate, CommandRequest, Decision,
    Notifier, NotifyFuture, Prompter, Sessions, Which,
};
use hermes_registry::{CallIds, CancellationToken, Services, Settings, Surface, ToolContext};
use serde_json::Value;
use tempfile::TempDir;

/// A command that somebody must agree to.
const DANGEROUS: &str = "rm -rf node_modules";

/// A home folder, its settings, and who is there.
struct World {
    home: TempDir,
    settings: Settings,
}

impl World {
    fn new(config: Value) -> Self {
        Self::with_env(config, &[])
    }

    fn with_env(config: Value, env: &[(&str, &str)]) -> Self {
        let home = TempDir::new().unwrap();
        let fixed = [("HOME", "/home/alice"), ("PATH", "/usr/bin:/bin"), ("TIRITH_ENABLED", "0")];
        let env = fixed.iter().chain(env).copied();
        let settings = Settings::new(home.path()).with_config(config).with_env(env);
        Self { home, settings }
    }

    fn builder(&self) -> ApprovalsBuilder {
        Approvals::builder(&self.settings)
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.home.path().join("config.yaml")).unwrap_or_default()
    }

    fn log(&self) -> Vec<Value> {
        let path = self.home.path().join("logs/approvals.jsonl");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn context(surface: Surface, session: &str) -> ToolContext {
    let ids = CallIds {
        session: session.into(),
        turn: "turn".into(),
        call: "call".into(),
        ..CallIds::default()
    };
    ToolContext::new("/home/alice/project").with_surface(surface).with_ids(ids)
}

async fn decide(gate: &Arc<Approvals>, command: &str, cx: &ToolContext) -> Decision {
    // As a tool does it: through the service, and without knowing who stands behind it.
    let cx = cx.clone().with_services(gate.lend(Services::new()));
    let gate = cx.service::<dyn CommandGate>().unwrap();
    gate.decide(&CommandRequest::new("terminal", command), &cx).await
}

/// A person at a dialog, who says the same to everything and remembers what it was.
struct Person {
    answer: Result<Answer, String>,
    asked: Mutex<Vec<Ask>>,
}

impl Person {
    fn new(answer: Answer) -> Arc<Self> {
        Arc::new(Self { answer: Ok(answer), asked: Mutex::default() })
    }

    fn broken() -> Arc<Self> {
        Arc::new(Self { answer: Err("no dialog".into()), asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<Ask> {
        self.asked.lock().unwrap().clone()
    }
}

impl Prompter for Person {
    fn prompt<'a>(&'a self, ask: &'a Ask) -> AskFuture<'a> {
        self.asked.lock().unwrap().push(ask.clone());
        let answer = self.answer.clone();
        Box::pin(async { answer })
    }
}

/// Somebody who never answers.
struct Silent;

impl Prompter for Silent {
    fn prompt<'a>(&'a self, _: &'a Ask) -> AskFuture<'a> {
        Box::pin(std::future::pending())
    }
}

/// A messaging platform: says that something waits, and perhaps answers at once.
struct Platform {
    sessions: Sessions,
    answer: Option<Answer>,
    fails: bool,
    notices: AtomicUsize,
}

impl Platform {
    fn new(sessions: &Sessions, answer: Option<Answer>) -> Arc<Self> {
        let sessions = sessions.clone();
        Arc::new(Self { sessions, answer, fails: false, notices: AtomicUsize::new(0) })
    }

    fn failing(sessions: &Sessions) -> Arc<Self> {
        let sessions = sessions.clone();
        Arc::new(Self { sessions, answer: None, fails: true, notices: AtomicUsize::new(0) })
    }
}

impl Notifier for Platform {
    fn notify<'a>(&'a self, ask: &'a Ask) -> NotifyFuture<'a> {
        self.notices.fetch_add(1, Ordering::SeqCst);
        if let Some(answer) = &self.answer {
            assert_eq!(self.sessions.answer(&ask.session, Which::Id(&ask.id), answer), 1);
        }
        let result = if self.fails { Err("no network".to_owned()) } else { Ok(()) };
        Box::pin(async { result })
    }
}

/// A scanner that says the same to everything.
struct Says(ScanAction);

impl Scanner for Says {
    fn scan<'a>(&'a self, _: &'a str, _: &'a ScannerConfig) -> ScanFuture<'a> {
        let mut verdict = ScanVerdict::new(self.0);
        if self.0 != ScanAction::Allow {
            let finding = ScanFinding {
                rule_id: "homograph".into(),
                severity: "high".into(),
                title: "Odd letters".into(),
                description: "in a host".into(),
            };
            verdict.findings.push(finding);
        }
        Box::pin(async { verdict })
    }
}

/// A context whose call can be given up.
fn cancellable(surface: Surface, session: &str) -> (ToolContext, CancellationToken) {
    let token = CancellationToken::new();
    (context(surface, session).with_cancel(token.clone()), token)
}

/// Lets other tasks go on until something holds.
async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}
