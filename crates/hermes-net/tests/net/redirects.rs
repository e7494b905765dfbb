//! Redirects: each is judged like a first URL.

use hermes_guard::urls::Refusal;
use hermes_guard::urls::website::WebsitePolicy;
use hermes_net::{BaseUrl, Client, Method, NetErrorKind, Request, StatusCode};
use pretty_assertions::assert_eq;

use crate::server::{Script, Server, local, ok, redirect, send, text};

#[tokio::test]
async fn into_private_addresses() {
    let inside = Server::start(|_| ok("secret")).await;
    let port = inside.port();
    let server = Server::start(move |seen| match seen.path() {
        "/v6" => redirect(302, &format!("http://[::1]:{port}/")),
        "/relative" => redirect(302, &format!("//127.1:{port}/")),
        "/name" => redirect(307, &format!("http://in.test:{port}/")),
        "/metadata" => redirect(301, "http://169.254.169.254/latest/"),
        "/file" => redirect(301, "file:///etc/passwd"),
        "/bad" => redirect(301, "http://[/"),
        _ => redirect(302, &format!("http://127.0.0.1:{port}/")),
    })
    .await;
    let client = Client::builder().resolver(Script::new(&[&["127.0.0.1"]])).build();
    let base = BaseUrl::new("X", "http://x", Some(&server.url(""))).unwrap();
    for path in ["v4", "v6", "relative", "name", "metadata", "file", "bad"] {
        let fault = send(&client, base.get(path).redirects(10)).await.unwrap_err();
        assert!(matches!(fault.kind(), NetErrorKind::Refused(_)), "{path} {fault}");
    }
    // Metadata is refused whatever is allowed.
    let fault = send(&local().build(), Request::get(server.url("/metadata"))).await.unwrap_err();
    assert!(matches!(fault.kind(), NetErrorKind::Refused(Refusal::Metadata(_))));
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn into_blocked_websites() {
    let server = Server::start(|_| redirect(302, "http://www.blocked.test/")).await;
    let script = Script::new(&[&["127.0.0.1"]]);
    let client =
        local().resolver(script.clone()).websites(WebsitePolicy::new(["blocked.test"])).build();
    let fault = send(&client, Request::get(server.url("/"))).await.unwrap_err();
    assert!(matches!(fault.kind(), NetErrorKind::Website(it) if it.rule == "blocked.test"));
    assert_eq!(script.asked(), 0);
}

#[tokio::test]
async fn as_many_as_are_allowed() {
    let server = Server::start(|seen| {
        let at: usize = seen.path().trim_start_matches('/').parse().unwrap();
        if at == 0 { ok("end") } else { redirect(302, &(at - 1).to_string()) }
    })
    .await;
    let client = local().build();
    let response = send(&client, Request::get(server.url("/10"))).await.unwrap();
    assert_eq!((response.redirects, response.url.path()), (10, "/0"));
    assert_eq!(response.bytes().await.unwrap(), "end");
    let fault = send(&client, Request::get(server.url("/11"))).await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::TooManyRedirects(10));
    assert_eq!(server.seen().len(), 11 + 11);
    let request = Request::get(server.url("/3")).redirects(2);
    assert_eq!(
        send(&client, request).await.unwrap_err().kind(),
        &NetErrorKind::TooManyRedirects(2)
    );
    // Services don't redirect: what they answer is the answer.
    let base = BaseUrl::new("X", "http://x", Some(&server.url(""))).unwrap();
    let response = send(&client, base.get("3")).await.unwrap();
    assert_eq!((response.status, response.header("location")), (StatusCode::FOUND, Some("2")));
}

#[tokio::test]
async fn in_circles() {
    let server = Server::start(|seen| match (seen.head.split(' ').next(), seen.path()) {
        (_, "/a") => redirect(302, "/b#x"),
        (_, "/b") => redirect(302, "/a#y"),
        // The same place, but the request is another one now.
        (Some("POST"), "/form") => redirect(303, "/form"),
        _ => ok("form"),
    })
    .await;
    let client = local().build();
    let fault = send(&client, Request::get(server.url("/a"))).await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::RedirectLoop);
    assert_eq!(server.seen().len(), 2);
    let post = Request::new(Method::POST, server.url("/form")).body("text/plain", "x");
    assert_eq!(text(&client, post).await.unwrap(), "form");
}

#[tokio::test]
async fn methods_and_bodies() {
    let server = Server::start(|seen| match seen.path() {
        "/to" => ok(""),
        path => redirect(path.trim_start_matches('/').parse().unwrap(), "/to"),
    })
    .await;
    let client = local().build();
    for (status, method, expected) in [
        (301, Method::POST, "GET"),
        (302, Method::POST, "GET"),
        (303, Method::PUT, "GET"),
        (301, Method::PUT, "PUT"),
        (307, Method::POST, "POST"),
        (308, Method::POST, "POST"),
        (303, Method::HEAD, "HEAD"),
    ] {
        let request = Request::new(method.clone(), server.url(&format!("/{status}")));
        send(&client, request.body("text/x", "body")).await.unwrap();
        let seen = server.seen().pop().unwrap();
        assert!(seen.head.starts_with(&format!("{expected} /to ")), "{status} {method}");
        let has_body = expected != "GET";
        assert_eq!(seen.body, if has_body { "body" } else { "" });
        assert_eq!(seen.header("content-type"), has_body.then_some("text/x"));
    }
    // These are no redirects.
    let server = Server::start(|_| redirect(304, "/to")).await;
    let response = send(&client, Request::get(server.url("/"))).await.unwrap();
    assert_eq!((response.status.as_u16(), response.redirects), (304, 0));
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let other = Server::start(|_| ok("")).await;
    let to = other.url("/to");
    let server = Server::start(move |seen| match seen.path() {
        "/out" => redirect(307, &to),
        "/in" => redirect(307, "/end"),
        _ => ok(""),
    })
    .await;
    let client = local().build();
    let request = |path| {
        Request::get(server.url(path))
            .header("authorization", "Bearer abc")
            .header("cookie", "a=b")
            .header("x-api-key", "k")
            .secret_header("x-own", "own")
            .header("accept-language", "de")
    };
    let names = ["authorization", "cookie", "x-api-key", "x-own"];
    send(&client, request("/in")).await.unwrap();
    let seen = server.seen().pop().unwrap();
    assert!(names.iter().all(|name| seen.header(name).is_some()), "{seen:?}");
    send(&client, request("/out")).await.unwrap();
    let seen = other.seen().pop().unwrap();
    assert!(names.iter().all(|name| seen.header(name).is_none()), "{seen:?}");
    assert_eq!(seen.header("accept-language"), Some("de"));
}

#[tokio::test]
async fn errors_hold_no_credentials() {
    let server = Server::start(|seen| {
        let key = seen.header("x-own").unwrap();
        redirect(302, &format!("http://169.254.169.254/{key}?q={key}&token=other&a=b"))
    })
    .await;
    let request = Request::get(server.url("/")).secret_header("x-own", "Bearer own.secret");
    let fault = send(&local().build(), request).await.unwrap_err().to_string();
    assert!(!fault.contains("own.secret") && !fault.contains("other"), "{fault}");
    assert!(fault.contains("a=b"), "{fault}");
}
