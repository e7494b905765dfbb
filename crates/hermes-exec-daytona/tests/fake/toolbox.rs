//! What the toolbox answers.

use std::collections::HashMap;
use std::sync::Arc;

use hyper::body::Bytes;
use serde_json::{Value, json};

use super::session::{Session, execute};
use super::{Answer, State, answer};

pub(crate) async fn answer_(
    state: &State,
    line: &str,
    headers: &HashMap<String, String>,
    body: &Value,
    bytes: &Bytes,
) -> Option<Answer> {
    let (method, path) = line.split_once(" /toolbox/")?;
    let (id, path) = path.split_once('/')?;
    {
        let inner = state.lock();
        let sandbox = inner.sandboxes.iter().find(|it| it.id == id)?;
        if sandbox.states[0] != "started" {
            return Some(answer(502, &json!({ "error": "the sandbox doesn't run" })));
        }
    }
    let parts: Vec<&str> = path.split('/').collect();
    let session = |id: &str| state.lock().sessions.get(id).cloned();
    Some(match (method, &*parts) {
        ("POST", ["process", "execute"]) => {
            let (code, text) = execute(&words(body["command"].as_str()?)).await;
            answer(200, &json!({ "exitCode": code, "result": text }))
        }
        ("POST", ["process", "session"]) => {
            let id = body["sessionId"].as_str()?.to_owned();
            let sessions = &mut state.lock().sessions;
            if sessions.contains_key(&id) {
                return Some(answer(409, &json!({ "error": "session already exists" })));
            }
            sessions.insert(id, Arc::<Session>::default());
            answer(201, &Value::Null)
        }
        ("DELETE", ["process", "session", id]) => {
            state.lock().sessions.remove(*id)?;
            answer(204, &Value::Null)
        }
        ("POST", ["process", "session", id, "exec"]) => {
            let session = session(id)?;
            let command = format!("cmd-{}", session.commands.lock().unwrap().len());
            session.run(&command, body["command"].as_str()?);
            if body["runAsync"] == true {
                return Some(answer(202, &json!({ "cmdId": command })));
            }
            let running = session.command(&command)?;
            let code = *running.exit.clone().wait_for(Option::is_some).await.unwrap();
            let log = running.log.borrow().0.clone();
            let text = String::from_utf8_lossy(&log).into_owned();
            answer(200, &json!({ "cmdId": command, "exitCode": code, "output": text }))
        }
        ("GET", ["process", "session", id, "command", command]) => {
            let running = session(id)?.command(command)?;
            let code = *running.exit.borrow();
            let mut shown = json!({ "id": command, "command": running.text });
            if let Some(code) = code {
                shown["exitCode"] = code.into();
            }
            answer(200, &shown)
        }
        ("POST", ["process", "session", id, "command", command, "input"]) => {
            let running = session(id)?.command(command)?;
            if running.exit.borrow().is_some() {
                return Some(answer(410, &json!({ "error": "the command has ended" })));
            }
            running.input(body["data"].as_str()?).await;
            answer(204, &Value::Null)
        }
        (_, ["process", "pty", parts @ ..]) => {
            return super::terminal::asked(state, method, parts, body);
        }
        ("POST", ["files", "bulk-upload"]) => {
            let kind = headers.get("content-type")?;
            let boundary = kind.strip_prefix("multipart/form-data; boundary=")?;
            write(boundary, bytes);
            answer(200, &Value::Null)
        }
        _ => return None,
    })
}

pub(crate) async fn answer_or_absent(
    state: &State,
    line: &str,
    headers: &HashMap<String, String>,
    body: &Value,
    bytes: &Bytes,
) -> Answer {
    let done = answer_(state, line, headers, body, bytes).await;
    done.unwrap_or_else(|| answer(404, &json!({ "error": "not found", "code": "NOT_FOUND" })))
}

/// Splits as older toolboxes do: at blanks, with quotes, and nothing else.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in text.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            (' ', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Writes the files of a form.
fn write(boundary: &str, form: &[u8]) {
    let mark = format!("--{boundary}");
    let mut paths: HashMap<String, String> = HashMap::new();
    let mut rest = form;
    while let Some(at) = find(rest, mark.as_bytes()) {
        rest = &rest[at + mark.len()..];
        let Some(end) = find(rest, mark.as_bytes()) else { return };
        let part = &rest[2..end - 2];
        let body_at = find(part, b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8_lossy(&part[..body_at]).into_owned();
        let name = head.split("name=\"").nth(1).unwrap().split('"').next().unwrap();
        let (index, kind) = name.rsplit_once('.').unwrap();
        if kind == "path" {
            let path = String::from_utf8(part[body_at..].to_vec()).unwrap();
            paths.insert(index.to_owned(), path);
        } else {
            std::fs::write(&paths[index], &part[body_at..]).unwrap();
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
