//! What a shell knows while a script runs: variables, directory, functions, files written.

use std::ops::Range;
use std::rc::Rc;

use crate::map::Map;
use crate::report::Ctx;
use crate::source::Source;
use crate::syntax::Script;
use crate::value::{Flow, HOLE, Taint};

/// A text with its commands.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) source: Source,
    pub(crate) script: Script,
}

/// What a variable may hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Variable {
    pub(crate) items: Vec<String>,
    pub(crate) is_list: bool,
    pub(crate) taint: Taint,
}

impl Variable {
    pub(crate) fn text(flow: Flow) -> Self {
        Self { items: vec![flow.text], is_list: false, taint: flow.taint }
    }
}

/// The text that a function stands in, and the steps of its body.
pub(crate) type Function = (Rc<Unit>, Range<usize>);

/// Most values that a variable is followed with.
const MOST_VALUES: usize = 8;

/// A list of folders.
const PATH: &str = "/\u{F8FF}";

/// Longest path of a directory that is followed, in bytes.
const MOST_PATH: usize = 4096;

/// Most directories that `pushd` is followed with.
const MOST_PUSHED: usize = 64;

/// The state of a shell.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    variables: Map<String, Vec<Variable>>,
    /// Variables that are other names of variables.
    references: Map<String, String>,
    /// Absolute, or None if it can't be known.
    pub(crate) cwd: Option<String>,
    pub(crate) previous: Option<String>,
    pub(crate) pushed: Vec<Option<String>>,
    /// `$1` and so on; None if they can't be known.
    pub(crate) positionals: Option<Rc<Vec<String>>>,
    pub(crate) functions: Map<String, Function>,
    /// The text, and the unit and line it was defined in.
    pub(crate) aliases: Map<String, (String, usize)>,
    /// What this text has written to files, by absolute path.
    pub(crate) files: Map<String, Flow>,
    /// What descriptors are open on.
    pub(crate) descriptors: Map<u32, Flow>,
}

impl Env {
    pub(crate) fn new(ctx: &Ctx) -> Self {
        let user = ctx.home.rsplit('/').next().unwrap_or_default();
        let mut variables = Map::default();
        for (name, value) in [
            ("HOME", ctx.home.as_str()),
            ("PWD", &ctx.cwd),
            ("HERMES_HOME", &ctx.hermes_home),
            ("USER", user),
            ("LOGNAME", user),
            ("SHELL", "/bin/bash"),
            ("TMPDIR", "/tmp"),
            ("IFS", " \t\n"),
            ("EUID", "1000"),
            ("UID", "1000"),
            ("BASH", "/bin/bash"),
            ("0", "bash"),
            // What it holds can't be known, but how it starts.
            ("PATH", PATH),
        ]
        .into_iter()
        .chain(ctx.env.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        {
            variables.insert(name.to_owned(), vec![Variable::text(Flow::known(value))]);
        }
        // The agent starts the shell.
        let parent = Variable::text(Flow::tainted(Taint::AGENT));
        variables.insert("PPID".to_owned(), vec![parent]);
        Self {
            variables,
            references: Map::default(),
            cwd: Some(ctx.cwd.clone()),
            previous: None,
            pushed: Vec::new(),
            positionals: None,
            functions: Map::default(),
            aliases: Map::default(),
            files: Map::default(),
            descriptors: Map::default(),
        }
    }

    /// What `name` may hold; the `choice`th value, or the last there is.
    pub(crate) fn get(&self, name: &str, choice: usize) -> Option<(&Variable, bool)> {
        let values = self.variables.get(self.referred(name))?;
        let more = values.len() > choice + 1;
        values.get(choice).or_else(|| values.last()).map(|value| (value, more))
    }

    /// `declare -n NAME=OTHER`.
    pub(crate) fn refer(&mut self, name: &str, other: &str) {
        self.references.insert(name.to_owned(), other.to_owned());
    }

    /// The variable that a name stands for; a chain of them is followed once.
    fn referred<'a>(&'a self, name: &'a str) -> &'a str {
        let follow = |name: &'a str| self.references.get(name).map_or(name, String::as_str);
        if self.references.is_empty() { name } else { follow(follow(name)) }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let (value, _) = self.get(name, 0)?;
        value.items.first().map(String::as_str)
    }

    /// The value that was set last.
    pub(crate) fn latest(&self, name: &str) -> Option<&Variable> {
        self.variables.get(self.referred(name))?.last()
    }

    /// Sets a variable; `maybe` keeps what it may hold otherwise.
    pub(crate) fn set(&mut self, name: &str, value: Variable, maybe: bool) {
        let name = self.referred(name).to_owned();
        self.variables.change(name, |values| {
            let values = values.get_or_insert_default();
            if !maybe {
                values.clear();
            }
            if !values.contains(&value) {
                if values.len() >= MOST_VALUES {
                    values.pop();
                }
                values.push(value);
            }
        });
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// All that a variable may hold.
    pub(crate) fn values(&self, name: &str) -> Option<Vec<Variable>> {
        self.variables.get(name).cloned()
    }

    /// Sets a variable to what [`Self::values`] gave.
    pub(crate) fn put_back(&mut self, name: &str, values: Option<Vec<Variable>>) {
        match values {
            Some(values) => self.variables.insert(name.to_owned(), values),
            None => self.variables.remove(name),
        }
    }

    pub(crate) fn home(&self) -> Option<&str> {
        self.text("HOME").filter(|it| !it.contains(HOLE))
    }

    pub(crate) fn enter(&mut self, directory: Option<String>) {
        // No system has longer paths; making them longer and longer would take its time.
        let directory = directory.filter(|it| it.len() <= MOST_PATH);
        self.previous = self.cwd.take();
        if let Some(directory) = &directory {
            self.set("PWD", Variable::text(Flow::known(directory.as_str())), false);
        } else {
            self.set("PWD", Variable::text(Flow::unknown()), false);
        }
        self.cwd = directory;
    }

    /// Remembers where the shell is, for `popd`.
    pub(crate) fn push_directory(&mut self) {
        if self.pushed.len() >= MOST_PUSHED {
            // Where a later `popd` ends can't be known.
            self.pushed.fill(None);
            return;
        }
        self.pushed.push(self.cwd.clone());
    }

    pub(crate) fn write(&mut self, path: &str, flow: &Flow, append: bool) {
        self.files.change(path.to_owned(), |old| match old {
            Some(old) if append => old.push(flow),
            _ => *old = Some(flow.clone()),
        });
    }
}
