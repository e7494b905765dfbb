//! One call, and when it is tried again.

use std::time::Duration;

use hermes_exec::environment::StartFailure;
use hyper::http::uri::PathAndQuery;
use prost::Message;
use tonic::client::Grpc;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::channel::{Channel, is_unsent};

/// How large an answer may be, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;

/// What a service is asked: its path, and how long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    pub(crate) path: &'static str,
    pub(crate) longest: Duration,
}

impl Method {
    pub(crate) const fn new(path: &'static str, seconds: u64) -> Self {
        Self { path, longest: Duration::from_secs(seconds) }
    }
}

fn grpc(channel: &Channel) -> Grpc<Channel> {
    Grpc::new(channel.clone()).max_decoding_message_size(LARGEST)
}

fn request<Q>(metadata: &MetadataMap, message: Q) -> Request<Q> {
    let mut request = Request::new(message);
    *request.metadata_mut() = metadata.clone();
    request
}

/// Asks once.
pub(crate) async fn unary<Q, A>(
    channel: &Channel,
    method: Method,
    metadata: &MetadataMap,
    message: Q,
) -> Result<A, Status>
where
    Q: Message + Send + Sync + 'static,
    A: Message + Default + Send + Sync + 'static,
{
    let mut request = request(metadata, message);
    request.set_timeout(method.longest);
    let path = PathAndQuery::from_static(method.path);
    let asking = async { grpc(channel).unary(request, path, ProstCodec::<Q, A>::default()).await };
    match tokio::time::timeout(method.longest, asking).await {
        Ok(answer) => answer.map(tonic::Response::into_inner),
        Err(_) => Err(Status::deadline_exceeded(format!("no answer to {}", method.path))),
    }
}

/// Asks for a stream of answers. It must begin in time.
pub(crate) async fn stream<Q, A>(
    channel: &Channel,
    method: Method,
    metadata: &MetadataMap,
    message: Q,
) -> Result<Streaming<A>, Status>
where
    Q: Message + Send + Sync + 'static,
    A: Message + Default + Send + Sync + 'static,
{
    let path = PathAndQuery::from_static(method.path);
    let asking = async {
        let codec = ProstCodec::<Q, A>::default();
        grpc(channel).server_streaming(request(metadata, message), path, codec).await
    };
    match tokio::time::timeout(method.longest, asking).await {
        Ok(answer) => answer.map(tonic::Response::into_inner),
        Err(_) => Err(Status::deadline_exceeded(format!("no answer to {}", method.path))),
    }
}

/// Whether the same call may fare better in a moment.
pub(crate) fn is_passing(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::DeadlineExceeded
            | Code::Unavailable
            | Code::Cancelled
            | Code::Internal
            | Code::Unknown
    )
}

/// Counts failures in a row.
#[derive(Debug)]
pub(crate) struct Tries {
    made: u32,
    most: u32,
    pause: Duration,
}

impl Tries {
    /// For workers: what is asked from them is a step of something that goes on.
    pub(crate) const fn of_worker() -> Self {
        Self { made: 0, most: 10, pause: Duration::from_millis(10) }
    }

    /// For the service: somebody waits for the answer, be it that nobody is there.
    pub(crate) const fn of_service() -> Self {
        Self { made: 0, most: 4, pause: Duration::from_millis(100) }
    }

    /// Something went well.
    pub(crate) fn reset(&mut self) {
        self.made = 0;
    }

    pub(crate) const fn made(&self) -> u32 {
        self.made
    }

    /// Waits before the next try, twice as long each time, if there is to be one after this
    /// failure.
    pub(crate) async fn again(&mut self, status: Status) -> Result<(), Status> {
        if !is_passing(&status) || self.made == self.most {
            return Err(status);
        }
        tokio::time::sleep(self.pause * 2_u32.pow(self.made)).await;
        self.made += 1;
        Ok(())
    }
}

/// Metadata from texts. What can't be sent is left out: the other side will say what it misses.
pub(crate) fn insert(metadata: &mut MetadataMap, name: &'static str, value: &str) {
    match MetadataValue::try_from(value) {
        Ok(value) => {
            metadata.insert(name, value);
        }
        Err(_) => tracing::warn!(name, "a value can't be sent"),
    }
}

/// A failure to do `what`, as a sentence.
pub(crate) fn failure(what: &str, status: &Status) -> StartFailure {
    let message = match status.code() {
        Code::Unauthenticated => {
            return StartFailure::new(format!(
                "{what}: Modal refuses the credentials ({}). Set MODAL_TOKEN_ID and \
                 MODAL_TOKEN_SECRET, or a profile in ~/.modal.toml (`modal token new` makes one).",
                status.message()
            ));
        }
        code => format!("{what}: {} ({code:?})", status.message()),
    };
    if is_unsent(status) { StartFailure::passing(message) } else { StartFailure::new(message) }
}
