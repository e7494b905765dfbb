//! Messages of servers, and what they change.

use pretty_assertions::assert_eq;

use super::*;

fn talk() -> Conversation {
    let options = json!({"python": {"analysis": {"x": 1}}});
    let mut talk = Conversation::new(Path::new("/p q"), options, false);
    let document = Document {
        version: 2,
        text: "".into(),
        stamp: None,
        published: None,
        shown: Instant::now(),
    };
    talk.documents.insert(PathBuf::from("/p q/a.py"), document);
    talk
}

fn reply(talk: &mut Conversation, method: &str, params: &Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": "x", "method": method, "params": params});
    let reply = talk.hear(request, 1).unwrap().unwrap();
    assert_eq!(reply.get("id"), Some(&json!("x")));
    reply.get("result").or_else(|| reply.pointer("/error/code")).cloned().unwrap()
}

#[test]
fn requests_are_answered() {
    let mut talk = talk();
    let items = ["python", "python.analysis.x", "other", "python.x.y"];
    let items: Vec<_> = items.iter().map(|section| json!({"section": section})).collect();
    for (method, params, expected) in [
        (
            "workspace/configuration",
            json!({"items": items}),
            json!([{"analysis": {"x": 1}}, 1, null, null]),
        ),
        ("workspace/configuration", json!(7), json!([])),
        (
            "workspace/workspaceFolders",
            json!(null),
            json!([{"uri": "file:///p%20q", "name": "p q"}]),
        ),
        ("window/workDoneProgress/create", json!({"token": 1}), json!(null)),
        ("workspace/diagnostic/refresh", json!(null), json!(null)),
        ("window/showDocument", json!({}), json!({"success": false})),
        ("workspace/unheardOf", json!({}), json!(protocol::METHOD_NOT_FOUND)),
    ] {
        assert_eq!(reply(&mut talk, method, &params), expected, "{method}");
    }
    let edit = reply(&mut talk, "workspace/applyEdit", &json!({"edit": {}}));
    assert_eq!(edit.get("applied"), Some(&json!(false)));
}

#[test]
fn pulls_are_offered_at_the_start_or_later() {
    let mut talk = talk();
    talk.phase = Phase::Ready;
    assert!(!talk.can_be_asked());
    let entry = |id: &str| json!({"id": id, "method": "textDocument/diagnostic"});
    let other = json!({"id": "o", "method": "textDocument/hover"});
    reply(&mut talk, "client/registerCapability", &json!({"registrations": [entry("a"), other]}));
    reply(&mut talk, "client/registerCapability", &json!({"registrations": [entry("b")]}));
    let gone = json!({"unregisterations": [entry("a")]});
    reply(&mut talk, "client/unregisterCapability", &gone);
    assert!(talk.can_be_asked());
    reply(&mut talk, "client/unregisterCapability", &json!({"unregisterations": [entry("b")]}));
    assert!(!talk.can_be_asked());
    talk.phase = Phase::Starting;
    let capabilities =
        json!({"diagnosticProvider": {}, "textDocumentSync": {"save": {"includeText": true}}});
    talk.hear(json!({"id": 0, "result": {"capabilities": capabilities}}), 1).unwrap();
    assert!(talk.can_be_asked() && talk.wants_saved_text && !talk.reaches_tsserver);
    assert_eq!(talk.phase, Phase::Ready);
}

#[test]
fn old_news_and_those_of_other_files_are_dropped() {
    let mut talk = talk();
    talk.is_late = true;
    let error = json!({"range": {"start": {"line": 0, "character": 0}}, "message": "m"});
    let mut publish = |uri: &str, version: Value| {
        let mut params = json!({"uri": uri, "diagnostics": [error]});
        if !version.is_null() {
            params["version"] = version;
        }
        talk.hear(json!({"method": "textDocument/publishDiagnostics", "params": params}), 1)
            .unwrap();
        let document = &talk.documents[Path::new("/p q/a.py")];
        let published = document.published.as_ref();
        published.map(|it| (it.problems.len(), it.names_version, talk.is_late))
    };
    assert_eq!(publish("file:///p%20q/b.py", json!(2)), None);
    assert_eq!(publish("file:///p%20q/a.py", json!(1)), None);
    assert_eq!(publish("file:///p%20q/a.py", json!(2)), Some((1, true, false)));
    assert_eq!(publish("file:///p q/a.py", Value::Null), Some((1, false, false)));
    assert_eq!(talk.documents.len(), 1);
}

#[test]
fn work_and_loading_are_followed() {
    let mut talk = talk();
    let mut progress = |token: Value, kind: &str| {
        let params = json!({"token": token, "value": {"kind": kind}});
        talk.hear(json!({"method": "$/progress", "params": params}), 1).unwrap();
        talk.is_working()
    };
    assert!(progress(json!(1), "begin"));
    assert!(progress(json!("b"), "begin"));
    assert!(progress(json!("b"), "end"));
    assert!(!progress(json!(1), "end"));
    let mut talk = Conversation::new(Path::new("/"), json!({}), true);
    let status = json!({"method": "experimental/serverStatus", "params": {"quiescent": true}});
    talk.hear(status, 1).unwrap();
    assert!(!talk.is_loading);
}

#[test]
fn answers_find_their_requests() {
    let mut talk = talk();
    let (first, second) = (talk.ask(), talk.ask());
    talk.hear(json!({"id": second, "error": {"code": -32801, "message": ""}}), 1).unwrap();
    assert!(!talk.is_answered(first) && talk.is_answered(second));
    assert_eq!(talk.take_answer(second), Some(Err(-32801)));
    assert_eq!(talk.take_answer(second), None);
    talk.abandon(first);
    talk.is_late = true;
    talk.hear(json!({"id": 999, "result": 1}), 1).unwrap();
    assert!(talk.is_late);
    talk.hear(json!({"id": first, "result": 1}), 1).unwrap();
    assert!(!talk.is_late && !talk.is_answered(first));
}

#[test]
fn rubbish_is_an_error() {
    for message in [json!([]), json!(1), json!({}), json!({"method": 1}), json!({"result": 1})] {
        assert!(talk().hear(message.clone(), 1).is_err(), "{message}");
    }
    let refused = json!({"id": 0, "error": {"code": -1, "message": "no"}});
    assert!(talk().hear(refused, 1).unwrap_err().contains("refuses"));
    let mut talk = talk();
    let log = json!({"method": "window/logMessage", "params": {}});
    for _ in 0..3 {
        talk.hear(log.clone(), MAX_UNASKED / 2).unwrap();
        talk.speak();
    }
    talk.hear(log.clone(), MAX_UNASKED).unwrap();
    assert!(talk.hear(log, 1).unwrap_err().contains("floods"));
}
