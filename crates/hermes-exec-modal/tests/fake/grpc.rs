//! Answers of one message and of many.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::http;
use prost::Message;
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::server::{Grpc, ServerStreamingService, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use super::{Call, Fault, State};

/// A request on its way through the fake.
pub(crate) struct Asked {
    pub(crate) state: Arc<State>,
    pub(crate) method: String,
    pub(crate) request: http::Request<Incoming>,
}

/// What is known of a call beside its message.
#[derive(Clone)]
pub(crate) struct Context_ {
    pub(crate) state: Arc<State>,
    pub(crate) call: Call,
}

impl Context_ {
    pub(crate) fn meta(&self, name: &str) -> Option<&str> {
        self.call.metadata.get(name).map(String::as_str)
    }
}

struct Unary<F>(F, Arc<State>, String);

fn note<Q: Message>(state: &Arc<State>, method: &str, request: &Request<Q>) -> Context_ {
    let metadata = request.metadata().clone().into_headers();
    let metadata = metadata
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    let message = request.get_ref().encode_to_vec();
    let call = Call { method: method.to_owned(), metadata, message };
    state.lock().calls.push(call.clone());
    Context_ { state: Arc::clone(state), call }
}

fn fault(state: &State, method: &str) -> Option<Fault> {
    state.lock().faults.get_mut(method)?.pop_front()
}

/// An answer to come.
pub(crate) type Answer = Boxed<http::Response<Body>>;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<F, Fut, Q, A> UnaryService<Q> for Unary<F>
where
    F: FnOnce(Context_, Q) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<A, Status>> + Send + 'static,
    Q: Message + Send + 'static,
{
    type Response = A;
    type Future = Boxed<Result<Response<A>, Status>>;

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let context = note(&self.1, &self.2, &request);
        let fault = fault(&self.1, &self.2);
        let work = self.0.clone();
        Box::pin(async move {
            match fault {
                Some(Fault::Status(code, text)) => return Err(Status::new(code, text)),
                Some(Fault::Hangup) => {
                    context.state.hangups.send_modify(|count| *count += 1);
                    std::future::pending::<()>().await;
                }
                Some(Fault::After(code, text)) => {
                    let _ = work(context, request.into_inner()).await;
                    return Err(Status::new(code, text));
                }
                _ => {}
            }
            work(context, request.into_inner()).await.map(Response::new)
        })
    }
}

/// Answers with one message.
pub(crate) fn unary<Q, A, F, Fut>(asked: Asked, work: F) -> Answer
where
    F: FnOnce(Context_, Q) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<A, Status>> + Send + 'static,
    Q: Message + Default + Send + 'static,
    A: Message + Send + 'static,
{
    let service = Unary(work, asked.state, asked.method);
    Box::pin(async { Grpc::new(ProstCodec::<A, Q>::default()).unary(service, asked.request).await })
}

/// Messages that a task sends.
pub(crate) struct Messages<A>(mpsc::Receiver<Result<A, Status>>);

impl<A> futures_util::Stream for Messages<A> {
    type Item = Result<A, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}

type Work<Q, A> = Box<
    dyn FnOnce(Context_, Q, Option<Fault>, mpsc::Sender<Result<A, Status>>) -> Boxed<()> + Send,
>;

struct Streaming<Q, A>(Option<Work<Q, A>>, Arc<State>, String);

impl<Q, A> ServerStreamingService<Q> for Streaming<Q, A>
where
    Q: Message + Send + 'static,
    A: Send + 'static,
{
    type Response = A;
    type ResponseStream = Messages<A>;
    type Future = Boxed<Result<Response<Messages<A>>, Status>>;

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let context = note(&self.1, &self.2, &request);
        let fault = fault(&self.1, &self.2);
        let work = self.0.take().unwrap();
        Box::pin(async move {
            if let Some(Fault::Status(code, text)) = fault {
                return Err(Status::new(code, text));
            }
            let (sender, receiver) = mpsc::channel(1);
            #[expect(clippy::disallowed_methods, reason = "it ends with the stream")]
            tokio::spawn(work(context, request.into_inner(), fault, sender));
            Ok(Response::new(Messages(receiver)))
        })
    }
}

/// Answers with many messages.
pub(crate) fn streaming<Q, A, F, Fut>(asked: Asked, work: F) -> Answer
where
    F: FnOnce(Context_, Q, Option<Fault>, mpsc::Sender<Result<A, Status>>) -> Fut
        + Clone
        + Send
        + 'static,
    Fut: Future<Output = ()> + Send + 'static,
    Q: Message + Default + Send + 'static,
    A: Message + Send + 'static,
{
    let work: Work<Q, A> =
        Box::new(|context, message, fault, to| Box::pin(work(context, message, fault, to)));
    let service = Streaming(Some(work), asked.state, asked.method);
    let request = asked.request;
    Box::pin(async move {
        Grpc::new(ProstCodec::<A, Q>::default()).server_streaming(service, request).await
    })
}
