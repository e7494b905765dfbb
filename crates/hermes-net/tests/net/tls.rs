//! Connections in TLS: the certificate is for the name, whatever the address.

use std::sync::Arc;

use hermes_net::{NetErrorKind, Request};
use pretty_assertions::assert_eq;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::server::{Script, local, read, text};

/// For `a.test`; made for these tests and good for nothing else.
const CERTIFICATE: &[u8] = include_bytes!("../data/a.test.cert.der");
const KEY: &[u8] = include_bytes!("../data/a.test.key.der");

fn trusting() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Arc::new(config.unwrap().with_root_certificates(roots).with_no_client_auth())
}

fn acceptor() -> TlsAcceptor {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key);
    TlsAcceptor::from(Arc::new(config.unwrap()))
}

#[tokio::test]
async fn the_certificate_is_for_the_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let _server = hermes_task::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(stream) = acceptor().accept(stream).await else { continue };
            let name = stream.get_ref().1.server_name().unwrap().to_owned();
            let mut stream = BufReader::new(stream);
            if read(&mut stream).await.is_ok() {
                let answer = format!("HTTP/1.0 200 OK\r\n\r\n{name}");
                stream.write_all(answer.as_bytes()).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        }
    });
    let builder = || local().resolver(Script::new(&[&["127.0.0.1"]]));
    let client = builder().tls(trusting()).build();
    let get = |name| Request::get(format!("https://{name}:{port}/"));
    assert_eq!(text(&client, get("a.test")).await.unwrap(), "a.test");
    // Not for this name, and not trusted by the system.
    for (client, name) in [(client, "b.test"), (builder().build(), "a.test")] {
        let fault = text(&client, get(name)).await.unwrap_err();
        assert_eq!(fault.kind(), &NetErrorKind::Connect, "{fault}");
    }
}
