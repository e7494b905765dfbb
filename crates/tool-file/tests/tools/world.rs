//! What the tests share: files to work on, and calls as a host makes them.

use std::fs;
use std::path::PathBuf;

use hermes_registry::{Invocation, Tool, ToolContext};
use pretty_assertions::assert_eq;
use serde_json::Value;
use tempfile::TempDir;

/// A folder of files and a context that works in it.
pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) cx: ToolContext,
}

impl World {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let cx = ToolContext::new(dir.path());
        Self { dir, cx }
    }

    pub(crate) fn call(&self, tool: &str, args: Value) -> Value {
        call(tool, args, self.cx.clone())
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }
}

pub(crate) fn call(tool: &str, args: Value, cx: ToolContext) -> Value {
    let spec = hermes_tool_file::tools().iter().find(|spec| spec.name == tool).unwrap();
    let Invocation::Blocking(run) = Tool::linked(spec).start(args, cx) else {
        panic!("{tool} isn't a blocking tool");
    };
    match run() {
        Ok(output) => serde_json::from_str(&output.to_text()).unwrap(),
        Err(err) => err.to_value(),
    }
}

/// Compares the keys of `expected` only.
#[track_caller]
pub(crate) fn check(actual: &Value, expected: &Value) {
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&actual[key], value, "{key} of {actual}");
    }
}
