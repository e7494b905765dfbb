//! Bodies: their size, their end, their compression.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hermes_net::{Method, NetErrorKind, Request};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::server::{Answer, Server, local, ok, send, text};

fn gzipped(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn too_large_by_what_it_says() {
    let server = Server::start(|_| {
        Answer::Hang(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nbeginning".to_vec())
    })
    .await;
    let fault = text(&local().build(), Request::get(server.url("/"))).await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::TooLarge(10 * 1024 * 1024));
}

#[tokio::test]
async fn too_large_as_it_comes() {
    let server = Server::start(|seen| match seen.path() {
        "/chunked" => Answer::Endless(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            "5\r\nabcde\r\n",
        ),
        _ => Answer::Endless("HTTP/1.1 200 OK\r\n\r\n", "abcde"),
    })
    .await;
    for path in ["/", "/chunked"] {
        let request = Request::get(server.url(path)).max_body(100_000);
        let fault = text(&local().build(), request).await.unwrap_err();
        assert_eq!(fault.kind(), &NetErrorKind::TooLarge(100_000), "{path}");
    }
}

#[tokio::test]
async fn exactly_as_large_as_allowed() {
    let server = Server::start(|_| ok("12345")).await;
    let client = local().build();
    let request = |limit| Request::get(server.url("/")).max_body(limit);
    assert_eq!(text(&client, request(5)).await.unwrap(), "12345");
    assert!(text(&client, request(4)).await.is_err());
    let mut body = send(&client, request(4)).await.unwrap().body;
    assert_eq!(body.chunk().await.unwrap_err().kind(), &NetErrorKind::TooLarge(4));
    assert_eq!(body.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn cut_in_the_middle() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc",
        "HTTP/1.1 200 OK\r\nconte",
        "",
        "no protocol at all\r\n\r\n",
    ] {
        let server = Server::start(|_| Answer::Last(answer.as_bytes().to_vec())).await;
        let fault = text(&local().build(), Request::get(server.url("/"))).await.unwrap_err();
        assert_eq!(fault.kind(), &NetErrorKind::Protocol, "{answer:?} {fault}");
        assert!(fault.to_string().starts_with(&server.url("/")), "{fault}");
    }
}

#[tokio::test]
async fn compressed() {
    let server = Server::start(|seen| {
        let plain = match seen.path() {
            "/bomb" => vec![0; 4 * 1024 * 1024],
            "/long" => vec![b'x'; 5000],
            _ => b"plain text".to_vec(),
        };
        let body = gzipped(&plain);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        Answer::Bytes([head.into_bytes(), body].concat())
    })
    .await;
    let client = local().build();
    assert_eq!(text(&client, Request::get(server.url("/"))).await.unwrap(), "plain text");
    assert_eq!(server.seen()[0].header("accept-encoding"), Some("gzip"));
    for (path, limit) in [("/bomb", u64::MAX), ("/long", 4999)] {
        let request = Request::get(server.url(path)).max_body(limit);
        let fault = text(&client, request).await.unwrap_err();
        assert_eq!(fault.kind(), &NetErrorKind::TooLarge(limit), "{path}");
    }
    let head = Request::new(Method::HEAD, server.url("/"));
    assert_eq!(text(&client, head).await.unwrap(), "");
}

#[tokio::test]
async fn json_both_ways() {
    let server = Server::start(|seen| match seen.path() {
        "/json" => ok(r#"{"a": [1]}"#),
        _ => ok("<html>"),
    })
    .await;
    let client = local().build();
    let request = |path: &str| Request::new(Method::POST, server.url(path)).json(&json!({"q": 1}));
    let answer = send(&client, request("/json")).await.unwrap().json().await.unwrap();
    assert_eq!(answer, json!({"a": [1]}));
    let seen = server.seen().pop().unwrap();
    assert_eq!(
        (seen.body.as_str(), seen.header("content-type")),
        (r#"{"q":1}"#, Some("application/json"))
    );
    let fault = send(&client, request("/")).await.unwrap().json().await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::Protocol);
    // A body that is left out is said to be.
    let post = Request::new(Method::POST, server.url("/json"));
    send(&client, post).await.unwrap();
    assert_eq!(server.seen().pop().unwrap().header("content-length"), Some("0"));
}

#[tokio::test]
async fn as_it_streams() {
    let server = Server::start(|_| {
        Answer::Hang(
            b"HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; charset=utf-8\r\n\
              transfer-encoding: chunked\r\n\r\n6\r\ndata 1\r\n"
                .to_vec(),
        )
    })
    .await;
    let request = Request::get(server.url("/")).timeout(None);
    let mut response = send(&local().build(), request).await.unwrap();
    assert_eq!(response.content_type().as_deref(), Some("text/event-stream"));
    // There is no end yet, and none is waited for.
    assert_eq!(response.body.chunk().await.unwrap().unwrap(), "data 1");
}

#[tokio::test]
async fn heads_without_end() {
    let server = Server::start(|_| Answer::Endless("HTTP/1.1 200 OK\r\n", "x: y\r\n")).await;
    let fault = send(&local().build(), Request::get(server.url("/"))).await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::Protocol);
}
