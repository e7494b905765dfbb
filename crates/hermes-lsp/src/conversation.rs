//! What is known of a running server, and what its messages change about it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::problem::{self, Problem};
use crate::protocol::{self, TSSERVER_REQUEST};
use crate::uri;

/// How many bytes a server may say without being spoken to.
const MAX_UNASKED: u64 = 64 * 1024 * 1024;

/// How many names of a kind are remembered for a server.
const MAX_NAMES: usize = 64;

/// Where a server is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It has not yet said what it can.
    Starting,
    /// It can be asked.
    Ready,
    /// It is told to end.
    Closing,
    /// It has ended, or is as good as ended.
    Over,
}

/// An answer to a request: its result, or the number of its error.
pub(crate) type Answer = Result<Value, i64>;

/// A server said what no server says.
pub(crate) type Rubbish = String;

/// A file that is open in the server.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) version: i64,
    pub(crate) text: Arc<str>,
    /// When the file last was as the server knows it.
    pub(crate) stamp: Option<Stamp>,
    /// What the server said about this version by itself.
    pub(crate) published: Option<Published>,
    /// When this version was shown.
    pub(crate) shown: Instant,
}

/// What tells that a file is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) modified: Option<SystemTime>,
    pub(crate) length: u64,
}

/// What a server says about a file without being asked.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) problems: Vec<Problem>,
    pub(crate) at: Instant,
    /// Whether it says of which version it speaks. Else it may speak of the one before.
    pub(crate) names_version: bool,
}

/// Everything about a running server that several threads need.
#[derive(Debug)]
pub(crate) struct Conversation {
    root: PathBuf,
    /// What it is told when it asks for its configuration.
    options: Value,
    pub(crate) phase: Phase,
    /// Why it must not be started again.
    pub(crate) fault: Option<String>,
    /// Whether its process is gone and collected.
    pub(crate) is_collected: bool,
    /// Whether it has yet to read its project.
    pub(crate) is_loading: bool,
    /// Whether it can be asked what is wrong with a file.
    offers_pull: bool,
    /// Registrations by which it offered that later.
    pulls: BTreeSet<String>,
    /// Whether it hands requests on to tsserver.
    pub(crate) reaches_tsserver: bool,
    /// Whether it wants the text with the news that a file was saved.
    pub(crate) wants_saved_text: bool,
    /// What it says it is busy with.
    works: BTreeSet<String>,
    pub(crate) documents: HashMap<PathBuf, Document>,
    next_id: i64,
    asked: BTreeMap<i64, Option<Answer>>,
    /// Requests whose answers nobody waits for any more.
    abandoned: BTreeSet<i64>,
    /// Whether somebody waited in vain, and nothing came since.
    pub(crate) is_late: bool,
    pub(crate) heard: Instant,
    /// When it was last needed.
    pub(crate) used: Instant,
    /// How many wait for it.
    pub(crate) waiting: usize,
    unasked: u64,
}

impl Conversation {
    /// With a server that gets `options` as its configuration and has been sent the request to
    /// start, which has the number 0.
    pub(crate) fn new(root: &Path, options: Value, is_loading: bool) -> Self {
        let now = Instant::now();
        Self {
            root: root.to_owned(),
            options,
            phase: Phase::Starting,
            fault: None,
            is_collected: false,
            is_loading,
            offers_pull: false,
            pulls: BTreeSet::new(),
            reaches_tsserver: false,
            wants_saved_text: false,
            works: BTreeSet::new(),
            documents: HashMap::new(),
            next_id: 1,
            asked: BTreeMap::new(),
            abandoned: BTreeSet::new(),
            is_late: false,
            heard: now,
            used: now,
            waiting: 0,
            unasked: 0,
        }
    }

    /// Whether it lives and may be spoken to.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Ready)
    }

    /// Whether nobody has needed it for `limit`.
    pub(crate) fn is_idle(&self, limit: Duration) -> bool {
        self.waiting == 0 && self.used.elapsed() >= limit
    }

    /// Whether it can be asked what is wrong with a file, now.
    pub(crate) fn can_be_asked(&self) -> bool {
        let answers = self.reaches_tsserver || self.offers_pull || !self.pulls.is_empty();
        answers && self.phase == Phase::Ready && !self.is_loading
    }

    /// Whether it says that it is busy.
    pub(crate) fn is_working(&self) -> bool {
        !self.works.is_empty()
    }

    /// It is spoken to.
    pub(crate) fn speak(&mut self) {
        self.unasked = 0;
    }

    /// A number for a request whose answer will be waited for.
    pub(crate) fn ask(&mut self) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.asked.insert(id, None);
        id
    }

    /// Whether a request was answered.
    pub(crate) fn is_answered(&self, id: i64) -> bool {
        matches!(self.asked.get(&id), Some(Some(_)))
    }

    /// The answer to a request, once.
    pub(crate) fn take_answer(&mut self, id: i64) -> Option<Answer> {
        self.asked.remove(&id).flatten()
    }

    /// Nobody waits for an answer any more. It will still tell that the server goes on.
    pub(crate) fn abandon(&mut self, id: i64) {
        if self.asked.remove(&id).is_some_and(|answer| answer.is_none())
            && self.abandoned.len() < MAX_NAMES
        {
            self.abandoned.insert(id);
        }
    }

    /// Whether a question is unanswered that somebody waited for in vain.
    pub(crate) fn owes_answers(&self) -> bool {
        !self.abandoned.is_empty()
    }

    /// Takes in a message of `size` bytes. Gives the reply that it wants.
    pub(crate) fn hear(&mut self, mut message: Value, size: u64) -> Result<Option<Value>, Rubbish> {
        self.heard = Instant::now();
        self.unasked += size;
        if self.unasked > MAX_UNASKED {
            return Err("it floods".to_owned());
        }
        let Some(fields) = message.as_object_mut() else {
            return Err("it talks rubbish: a message is no object".to_owned());
        };
        let params = fields.remove("params").unwrap_or(Value::Null);
        match (fields.remove("method"), fields.remove("id")) {
            (Some(Value::String(method)), Some(id)) => {
                let result = self.reply(&method, &params);
                Ok(Some(protocol::reply(id, result)))
            }
            (Some(Value::String(method)), None) => {
                self.note(&method, &params);
                Ok(None)
            }
            (None, Some(id)) => {
                let answer = match fields.remove("error") {
                    Some(error) => Err(error),
                    None => Ok(fields.remove("result").unwrap_or(Value::Null)),
                };
                self.answered(id.as_i64(), answer)?;
                Ok(None)
            }
            _ => Err("it talks rubbish: a message is neither request nor answer".to_owned()),
        }
    }

    fn answered(&mut self, id: Option<i64>, answer: Result<Value, Value>) -> Result<(), Rubbish> {
        match id {
            Some(0) if self.phase == Phase::Starting => match answer {
                Ok(result) => self.begin(result.get("capabilities").unwrap_or(&Value::Null)),
                Err(error) => {
                    let why = error.get("message").and_then(Value::as_str).unwrap_or_default();
                    let why: String = why.chars().take(200).collect();
                    return Err(format!("it refuses to start: {why}"));
                }
            },
            Some(id) => {
                if let Some(place) = self.asked.get_mut(&id) {
                    let code =
                        |error: Value| error.get("code").and_then(Value::as_i64).unwrap_or(0);
                    *place = Some(answer.map_err(code));
                    self.is_late = false;
                } else if self.abandoned.remove(&id) {
                    self.is_late = false;
                }
            }
            // An error about a message it couldn't read.
            None => {}
        }
        Ok(())
    }

    fn begin(&mut self, capabilities: &Value) {
        self.phase = Phase::Ready;
        self.is_late = false;
        self.offers_pull = capabilities.get("diagnosticProvider").is_some_and(Value::is_object);
        let commands = capabilities.pointer("/executeCommandProvider/commands");
        self.reaches_tsserver = commands
            .and_then(Value::as_array)
            .is_some_and(|commands| commands.iter().any(|it| it == TSSERVER_REQUEST));
        let save = capabilities.pointer("/textDocumentSync/save/includeText");
        self.wants_saved_text = save.and_then(Value::as_bool).unwrap_or(false);
    }

    /// The result for a request of the server; none for what isn't known.
    fn reply(&mut self, method: &str, params: &Value) -> Option<Value> {
        Some(match method {
            "workspace/configuration" => {
                let items = params.get("items").and_then(Value::as_array);
                let items = items.map(Vec::as_slice).unwrap_or_default();
                items.iter().map(|item| self.configuration(item)).collect()
            }
            "workspace/workspaceFolders" => protocol::folders(&self.root),
            "client/registerCapability" => {
                for id in protocol::registrations(params, "registrations") {
                    if self.pulls.len() < MAX_NAMES {
                        self.pulls.insert(id.to_owned());
                    }
                }
                Value::Null
            }
            "client/unregisterCapability" => {
                // The slip is the protocol's own.
                for id in protocol::registrations(params, "unregisterations") {
                    self.pulls.remove(id);
                }
                Value::Null
            }
            "workspace/applyEdit" => {
                json!({"applied": false, "failureReason": "files are changed by calls only"})
            }
            "window/showDocument" => json!({"success": false}),
            "window/workDoneProgress/create" | "window/showMessageRequest" => Value::Null,
            refresh if refresh.starts_with("workspace/") && refresh.ends_with("/refresh") => {
                Value::Null
            }
            _ => return None,
        })
    }

    fn configuration(&self, item: &Value) -> Value {
        match item.get("section").and_then(Value::as_str) {
            None | Some("") => self.options.clone(),
            Some(section) => section
                .split('.')
                .try_fold(&self.options, |value, key| value.get(key))
                .cloned()
                .unwrap_or(Value::Null),
        }
    }

    fn note(&mut self, method: &str, params: &Value) {
        match method {
            "textDocument/publishDiagnostics" => self.published(params),
            "$/progress" => {
                let token = match params.get("token") {
                    Some(Value::String(token)) => token.clone(),
                    Some(Value::Number(token)) => token.to_string(),
                    _ => return,
                };
                match params.pointer("/value/kind").and_then(Value::as_str) {
                    Some("begin") if self.works.len() < MAX_NAMES => {
                        self.works.insert(token);
                    }
                    Some("end") => {
                        self.works.remove(&token);
                    }
                    _ => {}
                }
            }
            "experimental/serverStatus" => {
                if let Some(is_quiet) = params.get("quiescent").and_then(Value::as_bool) {
                    self.is_loading = !is_quiet;
                    self.is_late &= !is_quiet;
                }
            }
            _ => {}
        }
    }

    fn published(&mut self, params: &Value) {
        let path = params.get("uri").and_then(Value::as_str).and_then(uri::path);
        let Some(document) = path.and_then(|path| self.documents.get_mut(&path)) else { return };
        let version = params.get("version").and_then(Value::as_i64);
        if version.is_some_and(|version| version != document.version) {
            return;
        }
        self.is_late = false;
        document.published = Some(Published {
            problems: problem::errors(params.get("diagnostics").unwrap_or(&Value::Null)),
            at: self.heard,
            names_version: version.is_some(),
        });
    }
}

#[cfg(test)]
mod tests;
