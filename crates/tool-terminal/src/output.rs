//! The output of a foreground command on its way to the model.

use std::sync::Arc;
use std::time::Duration;

use hermes_environments::Lease;
use hermes_hooks::{Event, HookEvent, Hooks};
use hermes_registry::ToolContext;
use hermes_terminal::{Collector, Decoder, Window};
use serde_json::{Map, Value};

use crate::mask::{self, mask};
use crate::plan::Plan;
use crate::spill::Spill;

/// Most characters of an output that hooks are told. Of more, they get the beginning and the end.
const MOST_TOLD: usize = 1_000_000;

/// How long hooks may take once the call is interrupted.
const GRACE: Duration = Duration::from_secs(3);

/// Output as it comes.
pub(crate) struct Taken<'a> {
    plan: &'a Plan,
    collector: Collector,
    spill: Spill,
    /// What hooks are told, if one wants to know.
    told: Option<Told>,
}

/// Output as it is shown.
pub(crate) struct Shown {
    pub(crate) text: String,
    /// What the command wrote, whatever hooks made of it.
    pub(crate) seen: String,
}

/// Output as the command wrote it.
struct Told {
    hooks: Arc<Hooks>,
    decoder: Decoder,
    window: Window,
}

impl<'a> Taken<'a> {
    pub(crate) fn new(plan: &'a Plan, cx: &ToolContext) -> Self {
        let hooks = cx.service::<Hooks>();
        let hooks = hooks.filter(|it| it.listens(HookEvent::TransformTerminalOutput));
        let told = hooks.map(|hooks| Told {
            hooks,
            decoder: Decoder::default(),
            window: Window::new(MOST_TOLD),
        });
        Self {
            plan,
            collector: Collector::new(plan.config.output_limit),
            spill: Spill::new(mask::mode(&plan.command)),
            told,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.collector.push(bytes);
        self.spill.push(bytes);
        if let Some(Told { decoder, window, .. }) = &mut self.told {
            decoder.push(bytes, &mut |text| window.push(text));
        }
    }

    /// The output that is shown, with `suffix` at its end. The text of a hook is treated as if the
    /// command had written it.
    pub(crate) async fn finish(
        mut self,
        code: i32,
        suffix: &str,
        lease: &Lease,
        cx: &ToolContext,
    ) -> Shown {
        let told = self.told.take();
        let replaced = match told {
            Some(told) => told.ask(self.plan, code, cx).await,
            None => None,
        };
        match replaced {
            None => {
                let text = self.shown(suffix, lease).await;
                Shown { seen: text.clone(), text }
            }
            Some(replaced) => {
                let seen = self.collector.finish("", &|text| mask(&self.plan.command, text)).text;
                let mut other = Taken {
                    collector: Collector::new(self.plan.config.output_limit),
                    spill: Spill::new(mask::mode(&self.plan.command)),
                    told: None,
                    plan: self.plan,
                };
                other.push(replaced.as_bytes());
                Shown { text: other.shown(suffix, lease).await, seen }
            }
        }
    }

    async fn shown(self, suffix: &str, lease: &Lease) -> String {
        let Self { plan, mut collector, spill, .. } = self;
        if collector.is_over()
            && let Some(path) = spill.keep(lease).await
        {
            collector.set_spill(path);
        }
        let output = collector.finish(suffix, &|text| mask(&plan.command, text));
        output.text.trim_end_matches(['\n', '\r']).to_owned()
    }
}

impl Told {
    /// What a hook wants to be shown instead.
    async fn ask(self, plan: &Plan, code: i32, cx: &ToolContext) -> Option<String> {
        let Self { hooks, mut decoder, mut window } = self;
        decoder.finish(&mut |text| window.push(text));
        let pairs = [
            ("command", Value::from(plan.command.as_str())),
            ("output", window.finish("").text.into()),
            ("returncode", code.into()),
            ("task_id", (&*cx.ids().task).into()),
            ("session_id", (&*cx.ids().session).into()),
            ("tool_call_id", (&*cx.ids().call).into()),
            ("env_type", plan.config.backend.name().into()),
        ];
        let payload: Map<String, Value> =
            pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let event = Event::new(HookEvent::TransformTerminalOutput, payload, cx.cwd());
        let mut asked = std::pin::pin!(hooks.replacement(event));
        tokio::select! {
            biased;
            replaced = &mut asked => replaced,
            () = cx.cancel().cancelled() => {
                tokio::time::timeout(GRACE, asked).await.unwrap_or_default()
            }
        }
    }
}
