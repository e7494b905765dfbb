//! Calls that tools make.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hermes_registry::{ToolCaller, ToolContext, ToolError, ToolFuture};
use serde_json::Value;

use crate::call::ToolCall;
use crate::pipeline::{self, Origin};
use crate::runtime::Runtime;
use crate::session::Session;

/// How deep calls may be inside of each other. A tool that calls itself ends here.
const MAX_DEPTH: u32 = 8;

/// Takes calls of a running tool.
pub(crate) struct Caller {
    runtime: Runtime,
    session: Session,
    made: AtomicU32,
}

impl Caller {
    pub(crate) fn new(runtime: &Runtime, session: &Session) -> Arc<Self> {
        let (runtime, session) = (runtime.clone(), session.clone());
        Arc::new(Self { runtime, session, made: AtomicU32::new(0) })
    }
}

impl ToolCaller for Caller {
    fn call_tool(&self, cx: &ToolContext, name: &str, args: Value) -> ToolFuture {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        let call = ToolCall::new(format!("{}/{number}", cx.ids().call), name, args);
        let (runtime, session) = (self.runtime.clone(), self.session.clone());
        let context = cx.nested();
        Box::pin(async move {
            if context.depth() > MAX_DEPTH {
                return Err(ToolError::denied(format!(
                    "tools may call each other {MAX_DEPTH} levels deep; this call was not made"
                )));
            }
            let origin = Origin { context, nested: true };
            pipeline::run(&runtime, &session, call, &origin).await.result
        })
    }
}
