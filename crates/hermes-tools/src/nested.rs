//! Calls that tools make.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hermes_registry::{ToolCaller, ToolContext, ToolError, ToolFuture};
use serde_json::Value;

use crate::call::ToolCall;
use crate::pipeline::{self, Origin};
use crate::runtime::Runtime;
use crate::session::{Session, SessionState};

/// How deep calls may be inside of each other. A tool that calls itself ends here.
const MAX_DEPTH: u32 = 8;

/// Takes calls of running tools. There is one for each session, which it doesn't keep alive.
pub(crate) struct Caller {
    runtime: Runtime,
    session: Weak<SessionState>,
    made: AtomicU64,
}

impl Caller {
    /// What takes the calls that tools of `session` make.
    pub(crate) fn of(runtime: &Runtime, session: &Session) -> Arc<Self> {
        let make = || {
            let (runtime, session) = (runtime.clone(), Arc::downgrade(&session.state));
            Arc::new(Self { runtime, session, made: AtomicU64::new(0) })
        };
        let caller = session.state.caller.get_or_init(make);
        // A session may be lent to another runtime than the one that opened it.
        if caller.runtime.is(runtime) { Arc::clone(caller) } else { make() }
    }
}

impl ToolCaller for Caller {
    fn call_tool(&self, cx: &ToolContext, name: &str, args: Value) -> ToolFuture {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        let call = ToolCall::new(format!("{}/{number}", cx.ids().call), name, args);
        let (runtime, session) = (self.runtime.clone(), self.session.upgrade());
        let context = cx.nested();
        Box::pin(async move {
            let Some(state) = session else {
                return Err(ToolError::cancelled("the session has ended"));
            };
            let session = Session { state };
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
