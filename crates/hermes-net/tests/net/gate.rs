//! The gate for URLs, as a tool meets it.

use hermes_guard::urls::Refusal;
use hermes_net::{Client, NetErrorKind, Request, UrlGate};
use hermes_registry::{CancellationToken, Services, Settings, ToolContext};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::server::{Script, Server, ok, redirect, send};

/// A context of a user with this configuration.
fn context(config: Value, script: Script) -> ToolContext {
    let home = tempfile::tempdir().unwrap();
    let settings = Settings::new(home.path()).with_config(config);
    let client = Client::of(&settings).resolver(script).build();
    ToolContext::new("/").with_services(client.lend(Services::new()))
}

async fn check(cx: &ToolContext, url: &str) -> Result<(), NetErrorKind> {
    let gate = cx.service::<dyn UrlGate>().unwrap();
    let checked = gate.check(url, &CancellationToken::new()).await;
    checked.map_err(|err| err.kind().clone())
}

#[tokio::test]
async fn a_url_is_judged_without_a_request() {
    let server = Server::start(|_| ok("secret")).await;
    let port = server.port();
    let script = Script::new(&[&["93.184.216.34"], &["93.184.216.34", "::ffff:10.0.0.1"], &[]]);
    let cx = context(json!({}), script);
    assert_eq!(check(&cx, "https://a.test/x").await, Ok(()));
    let refused = |kind: Result<(), NetErrorKind>| match kind {
        Err(NetErrorKind::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    };
    for url in ["https://b.test/", &format!("http://127.0.0.1:{port}/"), "http://[fe80::1]/"] {
        assert!(matches!(refused(check(&cx, url).await), Refusal::Internal { .. }), "{url}");
    }
    for url in
        ["http://169.254.169.254/", "http://metadata.google.internal", "http://[::ffff:a9fe:a9fe]"]
    {
        assert!(matches!(refused(check(&cx, url).await), Refusal::Metadata(_)), "{url}");
    }
    assert!(matches!(refused(check(&cx, "http://c.test/").await), Refusal::Unresolved(_)));
    for url in ["file:///etc/passwd", "gopher://a.test", "", "http://"] {
        refused(check(&cx, url).await);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn settings_of_the_user_count() {
    let blocked = json!({"enabled": true, "domains": ["b.test"]});
    let config = json!({"security": {"allow_private_urls": true, "website_blocklist": blocked}});
    let server = Server::start(|seen| match seen.path() {
        "/away" => redirect(302, "http://x.b.test/"),
        _ => ok("home"),
    })
    .await;
    let cx = context(config, Script::new(&[]));
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", server.port());
    assert_eq!(check(&cx, &url("/")).await, Ok(()));
    assert!(matches!(check(&cx, "http://X.B.test./").await, Err(NetErrorKind::Website(_))));
    assert!(matches!(check(&cx, "http://169.254.169.254/").await, Err(NetErrorKind::Refused(_))));
    // A tool that fetches by itself has the same rules at each redirect.
    let client = cx.service::<Client>().unwrap();
    assert!(send(&client, Request::get(url("/"))).await.is_ok());
    let fault = send(&client, Request::get(url("/away"))).await.unwrap_err();
    assert!(matches!(fault.kind(), NetErrorKind::Website(_)), "{fault}");
}

#[tokio::test]
async fn a_check_is_given_up_with_its_call() {
    let cx = context(json!({}), Script::new(&[]));
    let gate = cx.service::<dyn UrlGate>().unwrap();
    let token = CancellationToken::new();
    token.cancel();
    let fault = gate.check("http://a.test/", &token).await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::Cancelled);
}
