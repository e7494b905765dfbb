//! The calls of one assistant message: as many at once as is safe, one outcome for each, in order.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use hermes_registry::{Access, CheckpointScope, Deadline, Settings, ToolError, ToolOutput};
use hermes_turn::duplicates;
use hermes_turn::limits::{self, Item, LimitConfig};
use hermes_turn::plan::{self, SegmentKind, Slot};
use serde_json::{Value, json};

use crate::call::{CallOutcome, CallStatus, Effect, ToolCall};
use crate::canonical_path::canonical_in;
use crate::execute::Execution;
use crate::finish;
use crate::gates::{Detail, Trace};
use crate::observer::{RunningCall, tell};
use crate::patch_paths::patched;
use crate::pipeline::{self, Arrival, Gated, Origin, Ready};
use crate::runtime::Runtime;
use crate::session::{Session, lock};
use crate::spans;
use crate::way::Way;

/// How many calls run at once, unless configured.
const MAX_PARALLEL: usize = 8;
/// How long the calls of a parallel run may take together, unless configured.
const RUN_PATIENCE: Duration = Duration::from_secs(420);
/// The variable that configures it, in seconds.
const RUN_PATIENCE_VAR: &str = "HERMES_CONCURRENT_TOOL_TIMEOUT_S";
/// How often those who watch are told that work goes on.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How many characters go around the preview of a result that is in a file, about.
const BLOCK_CHARS: usize = 500;
/// How many running calls they are told of.
const MAX_NAMED: usize = 3;

/// A call of a batch, before it runs.
enum Seat {
    /// It goes through the pipeline.
    Call(Arrival),
    /// It repeats an earlier call.
    Repeats { first: usize, arrival: Arrival },
    /// Its tool has had as many calls as one turn may hold.
    Surplus { arrival: Arrival, most: usize },
}

/// Runs a batch.
pub(crate) async fn run(
    runtime: &Runtime,
    session: &Session,
    calls: Vec<ToolCall>,
) -> Vec<CallOutcome> {
    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
    let seats = seat(runtime, session, calls);
    let slots: Vec<Slot> = seats.iter().map(|seat| slot(session, seat)).collect();
    let segments = plan::plan(&slots);

    let mut seats: Vec<Option<Seat>> = seats.into_iter().map(Some).collect();
    let mut outcomes: Vec<Option<CallOutcome>> = ids.iter().map(|_| None).collect();
    for segment in segments {
        let members: Vec<(usize, Seat)> = segment
            .calls
            .iter()
            .filter_map(|&index| Some((index, seats.get_mut(index)?.take()?)))
            .collect();
        let parallel = match segment.kind {
            SegmentKind::Parallel => max_parallel(runtime, session),
            SegmentKind::Sequential => 1,
        };
        for (index, outcome) in run_segment(runtime, session, members, parallel, &ids).await {
            if let Some(place) = outcomes.get_mut(index) {
                *place = Some(outcome);
            }
        }
    }
    let mut outcomes: Vec<CallOutcome> = outcomes.into_iter().flatten().collect();
    fit_turn(session, &mut outcomes).await;
    outcomes
}

/// Finds what each call is: its tool and arguments, the earlier call that it repeats, or one too
/// many.
fn seat(runtime: &Runtime, session: &Session, calls: Vec<ToolCall>) -> Vec<Seat> {
    let arrivals: Vec<Arrival> =
        calls.into_iter().map(|call| pipeline::arrive(runtime, session, call)).collect();
    let repeats = repeats(&arrivals);
    let settings = runtime.settings();
    let mut had: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    let mut seats = Vec::with_capacity(arrivals.len());
    for (index, arrival) in arrivals.into_iter().enumerate() {
        if let Some(&first) = repeats.get(&index) {
            seats.push(Seat::Repeats { first, arrival });
            continue;
        }
        let limit = ready(&arrival).and_then(|ready| {
            let tool = &ready.tool.tool;
            let most = tool.meta().per_turn.map(|limit| limit(&settings).max(1))?;
            Some((Arc::<str>::from(tool.name()), most))
        });
        seats.push(match limit {
            Some((tool, most)) => {
                let count = had.entry(tool).or_default();
                *count += 1;
                if *count > most { Seat::Surplus { arrival, most } } else { Seat::Call(arrival) }
            }
            None => Seat::Call(arrival),
        });
    }
    seats
}

fn ready(arrival: &Arrival) -> Option<&Ready> {
    match &arrival.gated {
        Ok(Gated::Ready(ready)) => Some(ready),
        _ => None,
    }
}

/// The calls that say the same as an earlier one, which is named. Compared is what would run:
/// spelling of names, bridges and types of arguments don't count.
///
/// A call is no repetition when another call between the two may have changed something: reading a
/// file again after it was written is not the same reading.
fn repeats(arrivals: &[Arrival]) -> BTreeMap<usize, usize> {
    let compared: Vec<(usize, &Ready)> = arrivals
        .iter()
        .enumerate()
        .filter_map(|(index, arrival)| Some((index, ready(arrival)?)))
        .collect();
    let calls: Vec<duplicates::Call<'_>> = compared
        .iter()
        .map(|(_, ready)| duplicates::Call {
            name: ready.tool.tool.name(),
            arguments: duplicates::Arguments::Value(&ready.args),
        })
        .collect();
    let is_repeatable = |name: &str| {
        compared.iter().any(|(_, ready)| {
            let tool = &ready.tool.tool;
            tool.name() == name && tool.meta().repeatable
        })
    };
    let same_as = duplicates::find(&calls, &is_repeatable);
    let mut repeats = BTreeMap::new();
    // For each kind of call the latest one that runs, and the changes there were up to then.
    let mut latest: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut changes = 0_usize;
    for (at, ((index, ready), same_as)) in compared.iter().zip(same_as).enumerate() {
        let kind = same_as.unwrap_or(at);
        match latest.get(&kind) {
            Some(&(earlier, then)) if same_as.is_some() && then == changes => {
                repeats.insert(*index, earlier);
            }
            _ => {
                // What it changes itself makes no difference to its own repetition.
                changes += usize::from(!ready.tool.tool.meta().concurrency.is_read_only());
                latest.insert(kind, (*index, changes));
            }
        }
    }
    repeats
}

/// What a call may run beside.
fn slot(session: &Session, seat: &Seat) -> Slot {
    let Seat::Call(arrival) = seat else { return Slot::Barrier };
    let Some(ready) = ready(arrival) else { return Slot::Barrier };
    let cx = session.context();
    let canonical = |path: &str| Some(canonical_in(path, &cx));
    let meta = ready.tool.tool.meta();
    patch_slot(meta.checkpoint, &ready.args, &canonical)
        .unwrap_or_else(|| plan::slot(meta.concurrency, Some(&ready.args), &canonical))
}

/// What a call claims whose arguments hold a patch of several files; none when it has no patch.
fn patch_slot(
    scope: CheckpointScope,
    args: &Value,
    canonical: &dyn Fn(&str) -> Option<PathBuf>,
) -> Option<Slot> {
    let CheckpointScope::Patch { path, patch } = scope else { return None };
    let text = |name: &str| args.get(name).and_then(Value::as_str);
    let patch = text(patch).filter(|patch| !patch.trim().is_empty())?;
    let named: Vec<&str> = patched(patch).collect();
    if named.is_empty() {
        return Some(Slot::Barrier);
    }
    let claims =
        named.into_iter().chain(text(path)).map(|path| Some((Access::Write, canonical(path)?)));
    Some(claims.collect::<Option<_>>().map_or(Slot::Barrier, Slot::Paths))
}

/// Runs the calls of one segment. Those that have no place to run yet wait in the order of the
/// calls.
async fn run_segment(
    runtime: &Runtime,
    session: &Session,
    members: Vec<(usize, Seat)>,
    parallel: usize,
    ids: &[String],
) -> Vec<(usize, CallOutcome)> {
    let mut context = session.context();
    if parallel > 1
        && let Some(deadline) = run_patience(&runtime.settings()).and_then(Deadline::after)
    {
        context = context.with_deadline(deadline);
    }
    let origin = Origin { context, nested: false };
    let running: Mutex<BTreeMap<usize, RunningCall>> = Mutex::default();
    let (origin, shown) = (&origin, &running);
    let start = |(index, seat): (usize, Seat)| async move {
        if let Some(call) = running_call(&seat) {
            lock(shown).insert(index, call);
        }
        let outcome = run_seat(runtime, session, seat, origin, ids).await;
        lock(shown).remove(&index);
        (index, outcome)
    };

    let mut waiting = members.into_iter();
    let mut at_work: FuturesUnordered<_> =
        waiting.by_ref().take(parallel.max(1)).map(start).collect();
    let mut outcomes = Vec::new();
    let mut heartbeat =
        tokio::time::interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
    loop {
        tokio::select! {
            biased;
            done = at_work.next() => match done {
                Some(done) => {
                    outcomes.push(done);
                    at_work.extend(waiting.next().map(start));
                }
                None => return outcomes,
            },
            _ = heartbeat.tick() => {
                let mut calls: Vec<RunningCall> =
                    lock(&running).values().take(MAX_NAMED).cloned().collect();
                for call in &mut calls {
                    call.running = call.since.elapsed();
                }
                tell(session.options().observer.as_ref(), |observer| observer.heartbeat(&calls));
            }
        }
    }
}

fn running_call(seat: &Seat) -> Option<RunningCall> {
    let Seat::Call(arrival) = seat else { return None };
    Some(RunningCall {
        id: arrival.id.clone(),
        tool: ready(arrival)?.tool.tool.name().into(),
        since: Instant::now(),
        running: Duration::ZERO,
    })
}

/// Takes one call to its outcome.
async fn run_seat(
    runtime: &Runtime,
    session: &Session,
    seat: Seat,
    origin: &Origin,
    ids: &[String],
) -> CallOutcome {
    match seat {
        Seat::Call(arrival) => pipeline::complete(runtime, session, arrival, origin).await,
        Seat::Repeats { first, arrival } => {
            let Arrival { id, called, span, .. } = arrival;
            let of = ids.get(first).map(String::as_str).unwrap_or_default();
            let note = format!(
                "the same call as call {} of this turn ({of}), so it was not run again; repeat it \
                 alone if you meant it twice",
                first + 1
            );
            let execution = Execution {
                result: Ok(ToolOutput::Json(json!({"skipped": note}))),
                status: CallStatus::Skipped,
                effect: Effect::None,
                error_type: Some("duplicate_call"),
            };
            let trace = Trace::new(Detail::Notable);
            let way = Way::new(runtime, session, origin, id, called, trace);
            spans::within(span, origin, way.finish(None, execution)).await
        }
        Seat::Surplus { arrival, most } => {
            let Arrival { id, called, trace, span, .. } = arrival;
            let error = ToolError::denied(format!(
                "one turn may hold {most} calls of {called}, so this one was not run; make it \
                 again once the others have answered"
            ));
            let execution = Execution::not_run(CallStatus::Blocked, error, "turn_limit");
            let way = Way::new(runtime, session, origin, id, called, trace);
            spans::within(span, origin, way.finish(None, execution)).await
        }
    }
}

/// Writes the longest results into files until what is left of all fits into the turn.
async fn fit_turn(session: &Session, outcomes: &mut [CallOutcome]) {
    let turn = session.turn();
    let limits = &turn.limits;
    let items: Vec<Item> = outcomes.iter().map(|outcome| item(outcome, limits)).collect();
    let total: usize = items.iter().map(|item| item.chars).sum();
    if total <= limits.budget.per_turn {
        return;
    }
    for index in limits::spill_order(limits.budget.per_turn, &items) {
        if let Some(outcome) = outcomes.get_mut(index) {
            finish::shorten(session, outcome, limits.budget.preview).await;
        }
    }
}

/// How much of the turn a result takes, and how much it would take once it is in a file.
fn item(outcome: &CallOutcome, limits: &LimitConfig) -> Item {
    let text = match outcome.content() {
        Value::String(text) => text,
        parts => {
            let texts = parts.as_array().into_iter().flatten();
            let texts = texts.filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect()
        }
    };
    let chars = text.chars().count();
    // Parts stay as they are: what an image shows can't be paged through.
    let fixed = matches!(outcome.result, Ok(ToolOutput::Multimodal { .. }));
    Item {
        chars,
        replaced_chars: (!fixed).then_some(limits.budget.preview + BLOCK_CHARS),
        persisted: outcome.stored.is_some(),
    }
}

/// How many calls may run at once.
fn max_parallel(runtime: &Runtime, session: &Session) -> usize {
    let configured = || {
        let settings = runtime.settings();
        let count = settings.get("tools.max_parallel").and_then(Value::as_u64);
        count.and_then(|count| usize::try_from(count).ok())
    };
    let count = session.options().max_parallel.or_else(configured);
    count.filter(|count| *count > 0).unwrap_or(MAX_PARALLEL)
}

/// How long the calls of a parallel run may take together; none means for ever.
fn run_patience(settings: &Settings) -> Option<Duration> {
    let configured = settings
        .env_filled(RUN_PATIENCE_VAR)
        .and_then(|text| text.trim().parse::<f64>().ok().filter(|seconds| !seconds.is_nan()));
    match configured {
        None => Some(RUN_PATIENCE),
        Some(seconds) if seconds <= 0.0 => None,
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_patch_claims_each_file_it_names() {
        let scope = CheckpointScope::Patch { path: "path", patch: "patch" };
        let claimed = |args: Value| {
            patch_slot(scope, &args, &|path| Some(PathBuf::from("/w").join(path))).map(|slot| {
                match slot {
                    Slot::Paths(paths) => paths
                        .into_iter()
                        .map(|(access, path)| format!("{access:?} {}", path.display()))
                        .collect(),
                    other => vec![format!("{other:?}")],
                }
            })
        };
        let text = "*** Update File: a\n@@\n-x\n+y\n*** Move File: b -> c";
        assert_eq!(claimed(json!({"path": "a", "old_string": "x", "new_string": "y"})), None);
        assert_eq!(claimed(json!({"patch": " \n"})), None);
        assert_eq!(claimed(json!({"patch": "no headers"})), Some(vec!["Barrier".to_owned()]));
        assert_eq!(
            claimed(json!({"patch": text, "path": "d"})),
            Some(["a", "b", "c", "d"].map(|name| format!("Write /w/{name}")).to_vec())
        );
        let none = patch_slot(scope, &json!({"patch": text}), &|_| None);
        assert_eq!(none, Some(Slot::Barrier));
    }
}
