//! Messages to servers.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::uri;

/// The error of a request that isn't known.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// Errors of requests that are to be sent again: cancelled, out of date, cancelled by the server.
pub(crate) const TRY_AGAIN: [i64; 3] = [-32800, -32801, -32802];

/// The command by which typescript-language-server hands requests on.
pub(crate) const TSSERVER_REQUEST: &str = "typescript.tsserverRequest";

/// What tsserver is asked: for slips of syntax, for all else.
pub(crate) const TSSERVER_QUESTIONS: [&str; 2] =
    ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"];

/// How a watched file changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileChange {
    Created = 1,
    Deleted = 3,
}

pub(crate) fn request(id: i64, method: &str, params: Value) -> Value {
    with(json!({"jsonrpc": "2.0", "id": id, "method": method}), "params", params)
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    with(json!({"jsonrpc": "2.0", "method": method}), "params", params)
}

/// The answer to a request of the server.
pub(crate) fn reply(id: Value, result: Option<Value>) -> Value {
    let reply = with(json!({"jsonrpc": "2.0"}), "id", id);
    match result {
        Some(result) => with(reply, "result", result),
        None => with(reply, "error", json!({"code": METHOD_NOT_FOUND, "message": "not supported"})),
    }
}

/// A mapping with one more entry, which isn't copied: it may hold a whole file.
fn with(mut mapping: Value, key: &str, value: Value) -> Value {
    if let Some(mapping) = mapping.as_object_mut() {
        mapping.insert(key.to_owned(), value);
    }
    mapping
}

/// The request to start, with the number 0.
pub(crate) fn initialize(root: &Path, options: &Value) -> Value {
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-16"]},
        "workspace": {
            "applyEdit": false,
            "configuration": true,
            "workspaceFolders": true,
            "didChangeWatchedFiles": {"dynamicRegistration": false},
            "diagnostics": {"refreshSupport": true},
        },
        "textDocument": {
            "synchronization": {"didSave": true},
            "publishDiagnostics": {"versionSupport": true},
            "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": false},
        },
        "window": {"workDoneProgress": true},
        "experimental": {"serverStatusNotification": true},
    });
    let params = json!({
        // Servers end when this process does.
        "processId": std::process::id(),
        "clientInfo": {"name": "hermes", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": uri::of(root),
        "rootPath": root.to_string_lossy(),
        "workspaceFolders": folders(root),
        "capabilities": capabilities,
        "initializationOptions": options,
    });
    request(0, "initialize", params)
}

/// The one folder that a server works on.
pub(crate) fn folders(root: &Path) -> Value {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    json!([{"uri": uri::of(root), "name": name}])
}

pub(crate) fn open(path: &Path, language: &str, version: i64, text: &str) -> Value {
    let document = json!({
        "uri": uri::of(path), "languageId": language, "version": version, "text": text,
    });
    notification("textDocument/didOpen", json!({"textDocument": document}))
}

/// The whole text anew, which servers that want single changes understand too.
pub(crate) fn change(path: &Path, version: i64, text: &str) -> Value {
    let document = json!({"uri": uri::of(path), "version": version});
    let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
    notification("textDocument/didChange", params)
}

pub(crate) fn save(path: &Path, text: Option<&str>) -> Value {
    let params = json!({"textDocument": {"uri": uri::of(path)}});
    let params = match text {
        Some(text) => with(params, "text", text.into()),
        None => params,
    };
    notification("textDocument/didSave", params)
}

pub(crate) fn close(path: &Path) -> Value {
    notification("textDocument/didClose", json!({"textDocument": {"uri": uri::of(path)}}))
}

pub(crate) fn watched(path: &Path, change: FileChange) -> Value {
    let changes = json!([{"uri": uri::of(path), "type": change as u8}]);
    notification("workspace/didChangeWatchedFiles", json!({"changes": changes}))
}

pub(crate) fn pull(id: i64, path: &Path) -> Value {
    request(id, "textDocument/diagnostic", json!({"textDocument": {"uri": uri::of(path)}}))
}

pub(crate) fn ask_tsserver(id: i64, question: &str, path: &Path) -> Value {
    let arguments = json!([question, {"file": path.to_string_lossy()}]);
    let params = json!({"command": TSSERVER_REQUEST, "arguments": arguments});
    request(id, "workspace/executeCommand", params)
}

/// The ids of registrations for being asked what is wrong with a file, in the list `key`.
pub(crate) fn registrations<'p>(params: &'p Value, key: &str) -> Vec<&'p str> {
    let list = params.get(key).and_then(Value::as_array);
    list.map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .filter(|entry| {
            entry.get("method").and_then(Value::as_str) == Some("textDocument/diagnostic")
        })
        .filter_map(|entry| entry.get("id").and_then(Value::as_str))
        .collect()
}

/// Lays `over` over `base`: mappings that both have are merged, else `over` wins.
pub(crate) fn merge(base: &mut Value, over: &Map<String, Value>) {
    let mut pending = vec![(base, over)];
    while let Some((base, over)) = pending.pop() {
        if !base.is_object() {
            *base = Value::Object(Map::new());
        }
        let Some(base) = base.as_object_mut() else { continue };
        for (key, value) in over {
            match (base.get(key), value) {
                (Some(Value::Object(_)), Value::Object(_)) => {}
                _ => {
                    base.insert(key.clone(), value.clone());
                }
            }
        }
        // What was just put in is merged with itself, which changes nothing.
        pending.extend(base.iter_mut().filter_map(|(key, value)| {
            let over = over.get(key)?.as_object()?;
            (value.as_object() != Some(over)).then_some((value, over))
        }));
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn options_are_laid_over_each_other() {
        let mut base = json!({"a": {"b": 1, "c": {"d": 2}}, "e": [1], "f": 3});
        let over = json!({"a": {"c": {"x": 1}}, "e": [2], "f": {"g": 1}, "h": {}});
        merge(&mut base, over.as_object().unwrap());
        let expected =
            json!({"a": {"b": 1, "c": {"d": 2, "x": 1}}, "e": [2], "f": {"g": 1}, "h": {}});
        assert_eq!(base, expected);
    }

    #[test]
    fn the_start_names_the_folder() {
        let message = initialize(Path::new("/a b/ä"), &json!({"x": 1}));
        let at = |pointer: &str| message.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(at("/id"), json!(0));
        assert_eq!(at("/params/rootUri"), json!("file:///a%20b/%C3%A4"));
        assert_eq!(at("/params/workspaceFolders/0/name"), json!("ä"));
        assert_eq!(at("/params/initializationOptions"), json!({"x": 1}));
        assert_eq!(at("/params/processId"), json!(std::process::id()));
    }
}
