//! Asking about packages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hermes_guard::packages::fetched;
use hermes_net::Client;
use hermes_net::osv::Osv;
use hermes_registry::CancellationToken;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::server::{Answer, Server, ok};

async fn database() -> Server {
    Server::start(|seen| {
        let question: Value = serde_json::from_str(&seen.body).unwrap();
        match question.pointer("/package/name").and_then(Value::as_str).unwrap() {
            "evil" => {
                let report =
                    |id: &str| json!({"id": id, "summary": format!("é\u{1b}{}", "x".repeat(200))});
                let ids = ["GHSA-1", "MAL-1", "MAL-2", "MAL-3", "MAL-4"];
                ok(&json!({"vulns": ids.map(report)}).to_string())
            }
            "old" => ok(&json!({"vulns": [{"id": "GHSA-2", "summary": "a bug"}]}).to_string()),
            "broken" => ok("no json"),
            "failing" => "HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n".to_owned().into(),
            "gone" => Answer::Last(Vec::new()),
            _ => ok("{}"),
        }
    })
    .await
}

async fn check(osv: &Osv, line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let (program, arguments) = words.split_first().unwrap();
    let found = osv.check(&fetched(program, arguments), &CancellationToken::new()).await;
    found.map(|malware| malware.to_string())
}

#[tokio::test]
async fn the_request_is_exactly_this() {
    let server = database().await;
    for (configured, path) in [
        (server.url("/v1/query"), "/v1/query"),
        (server.url(""), "/v1/query"),
        (server.url("/other/place"), "/other/place"),
    ] {
        let osv = Osv::new(Client::default(), Some(&configured)).unwrap();
        assert_eq!(check(&osv, "npx -y @scope/pkg@1.2.3").await, None);
        let seen = server.seen().pop().unwrap();
        assert!(seen.head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{}", seen.head);
        assert_eq!(
            seen.body,
            r#"{"package":{"name":"@scope/pkg","ecosystem":"npm"},"version":"1.2.3"}"#
        );
        assert_eq!(seen.header("content-type"), Some("application/json"));
        assert!(seen.header("user-agent").unwrap().starts_with("hermes-tools/"));
    }
    let osv = Osv::new(Client::default(), Some(&server.url("/"))).unwrap();
    for (line, body) in [
        ("uvx tool[x]==2.0", r#"{"package":{"name":"tool","ecosystem":"PyPI"},"version":"2.0"}"#),
        ("npx pkg@latest", r#"{"package":{"name":"pkg","ecosystem":"npm"}}"#),
        ("npx range@1.2", r#"{"package":{"name":"range","ecosystem":"npm"}}"#),
    ] {
        check(&osv, line).await;
        assert_eq!(server.seen().pop().unwrap().body, body);
    }
}

#[tokio::test]
async fn malicious_packages_are_named() {
    let server = database().await;
    let osv = Osv::new(Client::default(), Some(&server.url("/v1/query"))).unwrap();
    let message = check(&osv, "npx evil@1.0.0").await.unwrap();
    let start = "the npm package evil 1.0.0 is known to be malicious and isn't run: MAL-1 (é xxx";
    assert!(message.starts_with(start), "{message}");
    assert!(message.contains("MAL-2") && message.contains("MAL-3"));
    assert!(!message.contains("MAL-4") && !message.contains("GHSA"), "{message}");
    assert_eq!(message.matches('x').count(), 3 * 98);
    // A package beside is as bad.
    assert!(check(&osv, "uvx --with evil good").await.is_some());
    for line in ["npx old", "npx fine", "npx broken", "npx failing", "npx gone", "node evil"] {
        assert_eq!(check(&osv, line).await, None, "{line}");
    }
}

#[tokio::test]
async fn answers_are_kept_and_errors_are_not() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = Server::start(move |_| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        if first { ok("no json") } else { ok(r#"{"vulns": [{"id": "MAL-1"}]}"#) }
    })
    .await;
    let osv = Osv::new(Client::default(), Some(&server.url("/"))).unwrap();
    assert_eq!(check(&osv, "npx a").await, None);
    for _ in 0..3 {
        let message = check(&osv, "npx a").await.unwrap();
        assert!(message.ends_with(": MAL-1"), "{message}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    check(&osv, "npx a@2.0.0").await;
    check(&osv, "uvx a").await;
    assert_eq!(asked.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_database_that_is_not_there_stops_nothing() {
    let address = Server::start(|_| ok("")).await.url("/");
    let osv = Osv::new(Client::default(), Some(&address)).unwrap();
    assert_eq!(check(&osv, "npx evil").await, None);
    assert!(Osv::new(Client::default(), Some("nonsense")).is_err());
    assert!(Osv::new(Client::default(), None).is_ok());
}
