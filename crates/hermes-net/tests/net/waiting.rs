//! How long is waited, and giving up.

use std::sync::Arc;
use std::time::Duration;

use hermes_net::{NetErrorKind, Request, Resolve, Resolved};
use hermes_registry::CancellationToken;
use pretty_assertions::assert_eq;
use tokio::sync::Notify;

use crate::server::{Answer, Server, local, ok, send, text};

const SHORT: Duration = Duration::from_millis(30);

/// Never answers.
struct Silent;

impl Resolve for Silent {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolved<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn every_wait_has_an_end() {
    let server = Server::start(|seen| match seen.path() {
        "/head" => Answer::Hang(b"HTTP/1.1 200 OK\r\n".to_vec()),
        "/body" => Answer::Hang(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc".to_vec()),
        _ => Answer::Hang(Vec::new()),
    })
    .await;
    let client = local().resolver(Silent).connect_timeout(SHORT).build();
    let fault = send(&client, Request::get("http://a.test/")).await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::Timeout(SHORT));
    for path in ["/", "/head", "/body"] {
        let request = || Request::get(server.url(path));
        for request in [request().idle(SHORT), request().timeout(Some(SHORT))] {
            let fault = text(&client, request).await.unwrap_err();
            assert_eq!(fault.kind(), &NetErrorKind::Timeout(SHORT), "{path} {fault}");
            assert!(fault.is_transient());
        }
    }
}

#[tokio::test]
async fn a_trickle_has_an_end() {
    // Something always comes soon enough.
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let server = Server::start(|_| Answer::Endless(head, "1\r\na\r\n")).await;
    let request = Request::get(server.url("/")).timeout(Some(SHORT)).max_body(u64::MAX);
    let mut body = send(&local().build(), request).await.unwrap().body;
    let fault = loop {
        if let Err(fault) = body.chunk().await {
            break fault;
        }
    };
    assert_eq!(fault.kind(), &NetErrorKind::Timeout(SHORT));
}

#[tokio::test]
async fn cancelling_ends_it() {
    let arrived = Arc::new(Notify::new());
    let notify = Arc::clone(&arrived);
    let server = Server::start(move |seen| {
        notify.notify_one();
        match seen.path() {
            "/body" => Answer::Hang(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc".to_vec()),
            _ => Answer::Hang(Vec::new()),
        }
    })
    .await;
    let client = local().build();
    for path in ["/", "/body"] {
        let cancel = CancellationToken::new();
        let request = Request::get(server.url(path)).timeout(None);
        let work = async { client.send(request, &cancel).await?.bytes().await };
        let stop = async {
            arrived.notified().await;
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(work, stop);
        assert_eq!(result.unwrap_err().kind(), &NetErrorKind::Cancelled, "{path}");
    }
    // One that is cancelled already sends nothing.
    let server = Server::start(|_| ok("")).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let fault = client.send(Request::get(server.url("/")), &cancel).await.unwrap_err();
    assert_eq!(fault.kind(), &NetErrorKind::Cancelled);
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once() {
    let server = Server::start(|seen| ok(seen.path())).await;
    let client = local().build();
    let tasks: Vec<_> = (0..200)
        .map(|at| {
            let (client, url) = (client.clone(), server.url(&format!("/{at}")));
            hermes_task::spawn(async move { text(&client, Request::get(url)).await.unwrap() })
        })
        .collect();
    for (at, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.unwrap(), format!("/{at}"));
    }
    assert!(server.connections() <= 200);
}
