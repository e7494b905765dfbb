//! Code of a host around every call: before, to change the arguments; around the handler, to
//! time, retry, cache or answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_hooks::{HookError, OnError};
use hermes_registry::{CallIds, Concurrency, ToolError, ToolFuture, ToolResult};
use serde_json::Value;

use crate::task;

/// Goes with every payload of middleware outside of this process.
pub const MIDDLEWARE_SCHEMA: &str = "hermes.middleware.v1";

/// The call that middleware works on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallInfo {
    /// The registered tool.
    pub tool: Arc<str>,
    /// The ids of the call.
    pub ids: CallIds,
    /// The arguments before any middleware: coerced and validated.
    pub original: Arc<Value>,
    /// What may run beside the call.
    pub concurrency: Concurrency,
}

/// Other arguments for a call, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestChange {
    /// All arguments.
    pub args: Value,
    /// Who changed them.
    pub source: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// A change to come; none leaves the arguments alone.
pub type RequestFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Option<RequestChange>, HookError>> + Send + 'a>>;

/// Changes arguments before anybody decides on the call. Each sees what the ones before it made
/// of them; a change is coerced and validated again.
pub trait RequestMiddleware: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// What its failure means for the call.
    fn on_error(&self) -> OnError {
        OnError::Allow
    }

    /// How long it may take; longer is a failure.
    fn timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Looks at a call.
    fn request<'a>(&'a self, call: &'a CallInfo, args: &'a Value) -> RequestFuture<'a>;
}

/// A result to come. An error is one of the middleware, not of the tool.
pub type AroundFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ToolResult, HookError>> + Send + 'a>>;

/// Runs around the handler, exactly once per call.
///
/// One that fails before it calls [`Next::run`] is passed over; one that fails afterwards loses
/// nothing, since the result of `next` is kept.
pub trait ExecutionMiddleware: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// Takes a call, and normally hands it on: `Ok(next.run(args).await)`.
    fn around<'a>(&'a self, call: &'a CallInfo, args: Value, next: Next) -> AroundFuture<'a>;
}

/// Runs the handler itself.
pub(crate) type Core = Arc<dyn Fn(Value) -> ToolFuture + Send + Sync>;

/// What is left of the way to the handler. Can be taken once.
pub struct Next {
    layers: Arc<[Arc<dyn ExecutionMiddleware>]>,
    call: Arc<CallInfo>,
    core: Core,
    kept: Arc<Mutex<Downstream>>,
}

/// How far a layer's `next` got.
#[derive(Default)]
enum Downstream {
    #[default]
    NotCalled,
    Running,
    Finished(ToolResult),
}

impl Next {
    /// Goes on to the handler with these arguments.
    pub async fn run(self, args: Value) -> ToolResult {
        set(&self.kept, Downstream::Running);
        let result = onion(self.layers, self.call, self.core, args).await;
        set(&self.kept, Downstream::Finished(result.clone()));
        result
    }
}

impl std::fmt::Debug for Next {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Next").field("layers", &self.layers.len()).finish_non_exhaustive()
    }
}

fn set(kept: &Mutex<Downstream>, state: Downstream) {
    *kept.lock().unwrap_or_else(PoisonError::into_inner) = state;
}

/// Runs the handler inside of all layers, the first one outermost.
pub(crate) fn onion(
    layers: Arc<[Arc<dyn ExecutionMiddleware>]>,
    call: Arc<CallInfo>,
    core: Core,
    args: Value,
) -> ToolFuture {
    Box::pin(async move {
        let Some((layer, inner)) = layers.split_first() else { return core(args).await };
        let inner: Arc<[_]> = inner.into();
        let kept = Arc::new(Mutex::new(Downstream::default()));
        let next = Next {
            layers: Arc::clone(&inner),
            call: Arc::clone(&call),
            core: Arc::clone(&core),
            kept: Arc::clone(&kept),
        };
        let around = task::caught(async { layer.around(&call, args.clone(), next).await });
        let failure = match around.await {
            Ok(Ok(result)) => return result,
            Ok(Err(error)) => error.to_string(),
            Err(panic) => panic,
        };
        tracing::warn!(middleware = layer.name(), error = failure, "execution middleware failed");
        let downstream = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        match downstream {
            Downstream::NotCalled => onion(inner, call, core, args).await,
            Downstream::Finished(result) => result,
            // The handler was dropped in the middle of its work: running it again could do
            // everything twice.
            Downstream::Running => Err(ToolError::internal(format!(
                "{} gave up while {} ran; it may have done part of its work",
                layer.name(),
                call.tool
            ))),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use hermes_registry::ToolOutput;
    use serde_json::json;

    use super::*;

    type Run = fn(Value, Next) -> AroundFuture<'static>;

    struct Layer(&'static str, Run);

    impl ExecutionMiddleware for Layer {
        fn name(&self) -> &str {
            self.0
        }

        fn around<'a>(&'a self, _: &'a CallInfo, args: Value, next: Next) -> AroundFuture<'a> {
            (self.1)(args, next)
        }
    }

    async fn run(layers: Vec<Layer>) -> (ToolResult, u32) {
        let runs = Arc::new(AtomicU32::new(0));
        let core: Core = Arc::new({
            let runs = Arc::clone(&runs);
            move |args| {
                runs.fetch_add(1, Ordering::SeqCst);
                Box::pin(async move { Ok(ToolOutput::Json(args)) })
            }
        });
        let info = CallInfo {
            tool: "t".into(),
            ids: CallIds::default(),
            original: Arc::new(json!(1)),
            concurrency: Concurrency::Exclusive,
        };
        let layers: Vec<Arc<dyn ExecutionMiddleware>> =
            layers.into_iter().map(|layer| Arc::new(layer) as _).collect();
        let result = onion(layers.into(), Arc::new(info), core, json!([1])).await;
        (result, runs.load(Ordering::SeqCst))
    }

    fn pass(args: Value, next: Next) -> AroundFuture<'static> {
        Box::pin(async move { Ok(next.run(args).await) })
    }

    #[tokio::test]
    async fn the_handler_runs_once_whatever_a_layer_does() {
        let cases: [(&str, Run); 5] = [
            ("pass", pass),
            ("fails before", |_, _| Box::pin(async { Err(HookError("broken".into())) })),
            ("panics before", |_, _| Box::pin(async { panic!("boom") })),
            ("fails after", |args, next| {
                Box::pin(async move {
                    let _ = next.run(args).await;
                    Err(HookError("broken".into()))
                })
            }),
            ("panics after", |args, next| {
                Box::pin(async move {
                    let _ = next.run(args).await;
                    panic!("boom")
                })
            }),
        ];
        for (name, layer) in cases {
            let layers = vec![Layer("outer", pass), Layer(name, layer), Layer("inner", pass)];
            let (result, runs) = run(layers).await;
            assert_eq!((result.unwrap(), runs), (ToolOutput::Json(json!([1])), 1), "{name}");
        }
    }

    #[tokio::test]
    async fn a_layer_may_change_arguments_answer_itself_and_see_errors() {
        let change = Layer("change", |_, next| Box::pin(async { Ok(next.run(json!([2])).await) }));
        assert_eq!(run(vec![change]).await.0.unwrap(), ToolOutput::Json(json!([2])));
        let answer = Layer("answer", |_, _| Box::pin(async { Ok(Ok("cached".into())) }));
        let (result, runs) = run(vec![answer]).await;
        assert_eq!((result.unwrap(), runs), (ToolOutput::from("cached"), 0));
    }
}
