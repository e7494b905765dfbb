//! Tools and runtimes for tests of the pipeline.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::{Arc, Mutex};

use hermes_registry::{Owner, Registry, Tool, ToolContext, ToolFuture, ToolMeta, ToolResult};
use hermes_tools::{
    CallObserver, CallOutcome, Extensions, Runtime, Session, SessionOptions, ToolSelection,
};
use serde_json::{Value, json};

/// A tool with a text and a small number.
pub(crate) fn tool(
    name: &str,
    handler: impl Fn(Value, ToolContext) -> ToolFuture + Send + Sync + 'static,
) -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "text": {"type": "string"},
            "n": {"type": "integer", "maximum": 1000},
        },
    });
    Tool::dynamic(name, "test", "A tool under test.", parameters, handler)
}

/// The tool with other properties.
pub(crate) fn with_meta(tool: Tool, edit: impl FnOnce(&mut ToolMeta)) -> Tool {
    let mut meta = *tool.meta();
    edit(&mut meta);
    tool.with_meta(meta)
}

/// A result that is there at once.
pub(crate) fn now(result: ToolResult) -> ToolFuture {
    Box::pin(async { result })
}

/// A tool that gives its arguments back.
pub(crate) fn echo() -> Tool {
    tool("echo", |args, _| now(Ok(args.into())))
}

/// A runtime with `tools` and `extensions`.
pub(crate) fn runtime(tools: Vec<Tool>, extensions: Extensions) -> Runtime {
    let registry = Registry::new();
    let user = registry.registrar(Owner::User);
    for tool in tools {
        user.register(tool).unwrap();
    }
    Runtime::builder(registry).extensions(extensions).build()
}

/// Options of a session that may use everything.
pub(crate) fn options() -> SessionOptions {
    SessionOptions::new(ToolSelection::all(), ToolContext::new("/"))
}

/// A session with `options`.
pub(crate) fn open(runtime: &Runtime, options: SessionOptions) -> Session {
    runtime.open(options).unwrap()
}

/// What the model sees, as text.
pub(crate) fn text(outcome: &CallOutcome) -> String {
    outcome.content().as_str().unwrap().to_owned()
}

/// Remembers what it was told.
#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<String>>);

impl Log {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl CallObserver for Log {
    fn started(&self, call: &str, tool: &Tool, _: &Value) {
        self.add(format!("{call} {} started", tool.name()));
    }

    fn completed(&self, outcome: &CallOutcome) {
        self.add(format!("{} {}", outcome.id, outcome.status.as_str()));
    }
}
