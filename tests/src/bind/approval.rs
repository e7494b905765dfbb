//! Decisions about commands, with a person, a model and a scanner that do as the case says.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hermes_approval::scanner::{
    ScanAction, ScanFinding, ScanFuture, ScanVerdict, Scanner, ScannerConfig,
};
use hermes_approval::{
    Allowlist, Answer, Approvals, Ask, AskFuture, CommandGate as _, CommandRequest, Notifier,
    NotifyFuture, Place, Prompter, ReviewRequest, Reviewer, ReviewerFuture, Sessions, Which,
};
use hermes_registry::{CallIds, Settings, Surface, ToolContext};
use serde_json::{Map, Value, json};

use super::{Binding, text};

pub(crate) const AREA: &[(&str, Binding)] = &[("decide", Binding::Actual(decide))];

/// The session of every case.
const SESSION: &str = "s";

fn decide(input: &Value) -> Result<Value, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let settings = settings(input, home.path());
    let (surface, must_ask) = match text(input, "surface")? {
        "cli" => (Surface::Cli, false),
        "gateway" => (Surface::Gateway, false),
        "cron" => (Surface::Cron, false),
        "none" => (Surface::None, false),
        "ask" | "exec_ask" => (Surface::None, true),
        other => return Err(format!("unknown surface {other:?}")),
    };
    let settings =
        if must_ask { with_variable(settings, "HERMES_EXEC_ASK", "1") } else { settings };
    let sessions = Sessions::default();
    let person = Arc::new(Person {
        answer: answer(input),
        fails: is_on(input, "notify_fails"),
        sessions: sessions.clone(),
        asked: AtomicUsize::new(0),
        last: Mutex::default(),
    });
    let listens = input.get("listener").and_then(Value::as_bool).unwrap_or(true);
    let mut gate = Approvals::builder(&settings)
        .sessions(sessions.clone())
        .scanner(Arc::new(scanner(input)?))
        .without_mailbox();
    if listens {
        gate = gate.prompter(Arc::clone(&person) as _);
        sessions.register(SESSION, Arc::clone(&person) as _);
    }
    if let Some(verdict) = input.get("verdict").and_then(Value::as_str) {
        gate = gate.reviewer(Arc::new(Model(verdict.to_owned())));
    }
    let gate = gate.build();
    gate.sessions().set_yolo(SESSION, is_on(input, "yolo"));

    let env_type = input.get("env_type").and_then(Value::as_str).unwrap_or("local");
    let place = Place::new(env_type).with_host_access(is_on(input, "has_host_access"));
    let request = CommandRequest::new("terminal", text(input, "command")?).at(place);
    let ids = CallIds { session: SESSION.into(), ..CallIds::default() };
    let cx = ToolContext::new("/home/alice/project").with_surface(surface).with_ids(ids);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // Nobody has to wait for a person who says nothing.
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    let decision = runtime.block_on(gate.decide(&request, &cx));

    let kept = Allowlist::of(&settings).read().map_err(|error| error.to_string())?;
    let last = person.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let allow_permanent = last.map_or(decision.allow_permanent, |ask| ask.allow_permanent);
    let mut actual = decision.to_value();
    if let Some(map) = actual.as_object_mut() {
        map.extend([
            ("asked".to_owned(), json!(person.asked.load(Ordering::SeqCst))),
            ("allow_permanent".to_owned(), allow_permanent.into()),
            ("kept_session".to_owned(), (!sessions.approved(SESSION).is_empty()).into()),
            ("kept_permanent".to_owned(), (!kept.is_empty()).into()),
        ]);
    }
    Ok(actual)
}

/// What is configured in a case.
fn settings(input: &Value, home: &std::path::Path) -> Settings {
    let mut approvals = Map::new();
    for (key, setting) in [
        ("mode", "mode"),
        ("cron_mode", "cron_mode"),
        ("deny", "deny"),
        ("timeout_s", "timeout"),
        ("noninteractive", "noninteractive"),
    ] {
        if let Some(value) = input.get(key) {
            approvals.insert(setting.to_owned(), value.clone());
        }
    }
    let allowlist = input.get("allowlist").cloned().unwrap_or_default();
    let config = json!({"approvals": approvals, "command_allowlist": allowlist});
    let mut env = vec![("HOME", "/home/alice".to_owned()), ("PATH", "/usr/bin:/bin".to_owned())];
    match input.get("sudo_password") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::String(password)) => env.push(("SUDO_PASSWORD", password.clone())),
        Some(_) => env.push(("SUDO_PASSWORD", "secret".to_owned())),
    }
    Settings::new(home).with_config(config).with_env(env)
}

fn with_variable(settings: Settings, name: &str, value: &str) -> Settings {
    let mut env: Vec<(String, String)> =
        settings.envs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    env.push((name.to_owned(), value.to_owned()));
    settings.with_env(env)
}

fn is_on(input: &Value, key: &str) -> bool {
    input.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// What the person says; none if they say nothing.
fn answer(input: &Value) -> Option<Answer> {
    let choice = input.get("answer").and_then(Value::as_str).filter(|it| *it != "timeout")?;
    Some(match Answer::from_choice(choice) {
        Answer::Deny { .. } => {
            let reason = input.get("reason").and_then(Value::as_str);
            Answer::Deny { reason: reason.map(str::to_owned) }
        }
        answer => answer,
    })
}

fn scanner(input: &Value) -> Result<Says, String> {
    let said = input.get("tirith").unwrap_or(&Value::Null);
    let action = said.as_str().or_else(|| said.get("action").and_then(Value::as_str));
    let action = match action {
        None | Some("allow") => ScanAction::Allow,
        Some("warn") => ScanAction::Warn,
        Some("block") => ScanAction::Block,
        Some(other) => return Err(format!("unknown verdict of a scanner {other:?}")),
    };
    Ok(Says(action))
}

/// A scanner that says the same to everything.
struct Says(ScanAction);

impl Scanner for Says {
    fn scan<'a>(&'a self, _: &'a str, _: &'a ScannerConfig) -> ScanFuture<'a> {
        let mut verdict = ScanVerdict::new(self.0);
        if self.0 != ScanAction::Allow {
            verdict.findings.push(ScanFinding {
                rule_id: "test_rule".to_owned(),
                title: "found something".to_owned(),
                ..ScanFinding::default()
            });
        }
        Box::pin(async { verdict })
    }
}

/// A model that says the same to everything.
struct Model(String);

impl Reviewer for Model {
    fn review<'a>(&'a self, _: &'a ReviewRequest) -> ReviewerFuture<'a> {
        Box::pin(async {
            match self.0.as_str() {
                "error" => Err("no model".to_owned()),
                word @ ("approve" | "deny" | "escalate") => Ok(word.to_uppercase()),
                other => Ok(other.to_owned()),
            }
        })
    }
}

/// A person, at a dialog or behind a platform.
struct Person {
    answer: Option<Answer>,
    fails: bool,
    sessions: Sessions,
    asked: AtomicUsize,
    last: Mutex<Option<Ask>>,
}

impl Person {
    fn hear(&self, ask: &Ask) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(ask.clone());
    }
}

impl Prompter for Person {
    fn prompt<'a>(&'a self, ask: &'a Ask) -> AskFuture<'a> {
        self.hear(ask);
        Box::pin(async {
            match &self.answer {
                _ if self.fails => Err("the dialog broke".to_owned()),
                Some(answer) => Ok(answer.clone()),
                None => std::future::pending().await,
            }
        })
    }
}

impl Notifier for Person {
    fn notify<'a>(&'a self, ask: &'a Ask) -> NotifyFuture<'a> {
        self.hear(ask);
        if let Some(answer) = self.answer.as_ref().filter(|_| !self.fails) {
            self.sessions.answer(&ask.session, Which::Id(&ask.id), answer);
        }
        let sent = if self.fails { Err("no connection".to_owned()) } else { Ok(()) };
        Box::pin(async { sent })
    }
}
