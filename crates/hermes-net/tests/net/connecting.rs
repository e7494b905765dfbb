//! Which addresses are dialled.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hermes_guard::urls::Refusal;
use hermes_guard::urls::website::WebsitePolicy;
use hermes_net::{BaseUrl, Client, NetErrorKind, Request};
use pretty_assertions::assert_eq;

use crate::server::{Answer, Script, Server, local, ok, send, text};

fn refusal(kind: &NetErrorKind) -> &Refusal {
    match kind {
        NetErrorKind::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn private_addresses_are_refused_before_anything_is_dialled() {
    let server = Server::start(|_| ok("secret")).await;
    let port = server.port();
    let script = Script::new(&[&["93.184.216.34", "127.0.0.1"]]);
    let client = Client::builder().resolver(script.clone()).build();
    for host in ["127.0.0.1", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "a.test"] {
        let request = Request::get(format!("http://{host}:{port}/"));
        let fault = send(&client, request).await.unwrap_err();
        assert!(matches!(refusal(fault.kind()), Refusal::Internal { .. }), "{host} {fault}");
        assert!(fault.to_string().contains("security.allow_private_urls"), "{fault}");
        assert!(!fault.is_transient());
    }
    assert_eq!((server.connections(), script.asked()), (0, 1));
}

#[tokio::test]
async fn metadata_is_refused_whatever_is_allowed() {
    let script = Script::new(&[&["127.0.0.1", "::ffff:169.254.169.254"]]);
    let client = local().resolver(script.clone()).build();
    for url in [
        "http://169.254.169.254/latest/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://metadata.google.internal/",
        "http://METADATA.GOOG./",
        "http://a.test/",
    ] {
        let fault = send(&client, Request::get(url)).await.unwrap_err();
        assert!(matches!(refusal(fault.kind()), Refusal::Metadata(_)), "{url} {fault}");
    }
    // The names of metadata services aren't even looked up.
    assert_eq!(*script.asked.lock().unwrap(), ["a.test"]);
    // Not even at an address that the user configured.
    let base = BaseUrl::new("X", "http://x", Some("http://169.254.169.254/")).unwrap();
    let fault = send(&client, base.get("a")).await.unwrap_err();
    assert!(matches!(refusal(fault.kind()), Refusal::Metadata(_)));
}

#[tokio::test]
async fn a_second_answer_is_never_asked_for() {
    let server = Server::start(|_| Answer::Last(b"HTTP/1.0 200 OK\r\n\r\nfirst".to_vec())).await;
    let script = Script::new(&[&["127.0.0.1"], &["169.254.169.254"]]);
    let client = local().resolver(script.clone()).build();
    let url = format!("http://rebind.test:{}/", server.port());
    assert_eq!(text(&client, Request::get(&*url)).await.unwrap(), "first");
    assert_eq!((server.connections(), script.asked()), (1, 1));
    // The next connection is judged by the next answer.
    let fault = text(&client, Request::get(url)).await.unwrap_err();
    assert!(matches!(refusal(fault.kind()), Refusal::Metadata(_)));
    assert_eq!((server.connections(), script.asked()), (1, 2));
}

#[tokio::test]
async fn the_name_stays_in_the_request() {
    let server = Server::start(|_| ok("")).await;
    let client = local().resolver(Script::new(&[&["127.0.0.1"]])).build();
    let port = server.port();
    for (url, host, path) in [
        (format!("http://A.test.:{port}/x y?q=ö#f"), format!("a.test:{port}"), "/x%20y?q=%C3%B6"),
        (format!("http://[::ffff:127.0.0.1]:{port}"), format!("[::ffff:127.0.0.1]:{port}"), "/"),
        (format!("http://u:p%40@127.0.0.1:{port}/"), format!("127.0.0.1:{port}"), "/"),
    ] {
        send(&client, Request::get(&*url)).await.unwrap().bytes().await.unwrap();
        let seen = server.seen().pop().unwrap();
        assert_eq!((seen.header("host").unwrap(), seen.path()), (&*host, path), "{url}");
    }
    // `u:p@`
    let seen = server.seen().pop().unwrap();
    assert_eq!(seen.header("authorization"), Some("Basic dTpwQA=="));
    assert!(seen.header("user-agent").unwrap().starts_with("hermes-tools/"));
}

#[tokio::test]
async fn the_next_address_is_tried() {
    let server = Server::start(|_| ok("here")).await;
    // Nobody listens at the first one.
    let script = Script::new(&[&["127.0.0.77", "127.0.0.1"]]);
    let client = local().resolver(script).build();
    let url = format!("http://a.test:{}/", server.port());
    assert_eq!(text(&client, Request::get(url)).await.unwrap(), "here");
}

#[tokio::test]
async fn what_has_no_address_or_no_listener() {
    let closed = {
        let server = Server::start(|_| ok("")).await;
        server.url("/?token=hunter2hunter2")
    };
    let client = local().resolver(Script::default()).build();
    let fault = send(&client, Request::get("http://a.test/")).await.unwrap_err();
    assert!(matches!(refusal(fault.kind()), Refusal::Unresolved(_)));
    assert!(fault.is_transient());
    let fault = send(&client, Request::get(closed)).await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::Connect);
    assert!(!fault.to_string().contains("hunter2"), "{fault}");
}

#[tokio::test]
async fn the_users_own_service_may_be_private() {
    let server = Server::start(|_| ok("mine")).await;
    let other = Server::start(|_| ok("not mine")).await;
    let client = Client::builder()
        .resolver(Script::new(&[&["127.0.0.1"]]))
        .websites(WebsitePolicy::new(["127.0.0.1", "blocked.test"]))
        .build();
    let base = BaseUrl::new("X_URL", "http://x.test", Some(&server.url("/v1"))).unwrap();
    assert_eq!(text(&client, base.get("a?b=c")).await.unwrap(), "mine");
    assert_eq!(server.seen()[0].path(), "/v1/a?b=c");
    // The connection that waits now isn't for others.
    let fault = send(&client, Request::get(server.url("/"))).await.unwrap_err();
    assert!(matches!(fault.kind(), NetErrorKind::Website(_)));
    let client = Client::default();
    assert_eq!(text(&client, base.get("")).await.unwrap(), "mine");
    let fault = send(&client, Request::get(server.url("/"))).await.unwrap_err();
    assert!(matches!(refusal(fault.kind()), Refusal::Internal { .. }));
    // The default is no word of the user's.
    let base = BaseUrl::new("X_URL", &other.url(""), None).unwrap();
    assert!(send(&client, base.get("")).await.is_err());
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn blocked_websites_are_not_looked_up() {
    let script = Script::new(&[&["127.0.0.1"]]);
    let client =
        local().resolver(script.clone()).websites(WebsitePolicy::new(["blocked.test"])).build();
    let fault = send(&client, Request::get("http://x.blocked.test/")).await.unwrap_err();
    assert!(fault.to_string().contains("website policy"), "{fault}");
    assert_eq!(script.asked(), 0);
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::start(|seen| match seen.path() {
        "/last" => Answer::Last(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nlast".to_vec()),
        _ => ok("more"),
    })
    .await;
    let client = local().build();
    for _ in 0..5 {
        assert_eq!(text(&client, Request::get(server.url("/"))).await.unwrap(), "more");
    }
    assert_eq!(server.connections(), 1);
    // The server closes this one without having said so.
    assert_eq!(text(&client, Request::get(server.url("/last"))).await.unwrap(), "last");
    for _ in 0..3 {
        let post = Request::new(hermes_net::Method::POST, server.url("/")).body("text/plain", "x");
        assert_eq!(text(&client, post).await.unwrap(), "more");
    }
    // A body that isn't read ends its connection.
    drop(send(&client, Request::get(server.url("/"))).await.unwrap());
    assert_eq!(text(&client, Request::get(server.url("/"))).await.unwrap(), "more");
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_connection_that_breaks_is_replaced() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    // Every second request on a connection is read and not answered.
    let server = Server::start(move |_| match count.fetch_add(1, Ordering::SeqCst) % 3 {
        0 | 2 => ok("here"),
        _ => Answer::Last(Vec::new()),
    })
    .await;
    let client = local().build();
    for _ in 0..2 {
        assert_eq!(text(&client, Request::get(server.url("/"))).await.unwrap(), "here");
    }
    assert_eq!((server.seen().len(), server.connections()), (3, 2));
    // What changes something isn't sent twice.
    assert_eq!(text(&client, Request::get(server.url("/"))).await.unwrap(), "here");
    let post = Request::new(hermes_net::Method::POST, server.url("/")).body("text/plain", "x");
    assert_eq!(text(&client, post).await.unwrap_err().kind(), &NetErrorKind::Protocol);
    assert_eq!(server.seen().len(), 5);
}

#[tokio::test]
async fn requests_that_cannot_be_sent() {
    let client = local().build();
    for request in [
        Request::get("http://127.0.0.1/").header("a b", "x"),
        Request::get("http://127.0.0.1/").secret_header("x-key", "sk-secret\nsecret"),
        Request::get("http://127.0.0.1/").body("a\nb", "x"),
    ] {
        assert!(!format!("{request:?}").contains("sk-secret"));
        let fault = send(&client, request).await.unwrap_err();
        assert_eq!(fault.kind(), &NetErrorKind::Request);
        assert!(!fault.to_string().contains("sk-secret"), "{fault}");
    }
    for url in ["", "file:///etc/passwd", "ftp://a.test/", "http://a.test:0/", "nothing"] {
        let fault = send(&client, Request::get(url)).await.unwrap_err();
        assert!(matches!(fault.kind(), NetErrorKind::Refused(_)), "{url}");
    }
}
