//! One sandbox: found, made, started, given up.

use std::time::Duration;

use hermes_exec::environment::StartFailure;
use hermes_net::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::{Api, Content, Fault, encoded};
use crate::options::Options;

/// The label that says whose a sandbox is.
const LABEL: &str = "hermes_task_id";
/// How long is waited between two looks at a state, first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// A sandbox as it was when it was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub(crate) id: String,
    state: String,
    error: Option<String>,
    toolbox: Option<String>,
}

impl Sandbox {
    fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| {
            value.get(key).and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned)
        };
        Some(Self {
            id: text("id")?,
            state: text("state").unwrap_or_default(),
            error: text("errorReason"),
            toolbox: text("toolboxProxyUrl"),
        })
    }

    /// What its state comes to.
    fn phase(&self) -> Phase {
        match self.state.as_str() {
            "started" => Phase::Runs,
            "stopped" | "archived" | "paused" => Phase::Sleeps,
            "pending_build" | "building_snapshot" | "pulling_snapshot" => Phase::IsBuilt,
            "error" | "build_failed" => Phase::IsBroken,
            "destroyed" | "destroying" => Phase::IsGone,
            // On the way to one of the others, whatever newer services call it.
            _ => Phase::Moves,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Runs,
    Sleeps,
    IsBuilt,
    Moves,
    IsBroken,
    IsGone,
}

fn read(value: &Value) -> Result<Sandbox, Fault> {
    Sandbox::read(value).ok_or_else(|| Fault::other("the answer is no sandbox"))
}

/// The sandbox `id`, as it is now.
async fn get(api: &Api, id: &str) -> Result<Sandbox, Fault> {
    let path = format!("sandbox/{}", encoded(id));
    read(&api.service(Method::GET, &path, Content::Nothing).await?)
}

/// The sandbox by name or id, if it is there.
async fn find(api: &Api, name: &str) -> Result<Option<Sandbox>, Fault> {
    match get(api, name).await {
        Ok(sandbox) => Ok(Some(sandbox).filter(|it| it.phase() != Phase::IsGone)),
        Err(fault) if fault.is_absent() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// A sandbox with the task's label, if there is one.
async fn find_by_label(api: &Api, task: &str) -> Result<Option<Sandbox>, Fault> {
    let labels = encoded(&json!({ LABEL: task }).to_string());
    let path = format!("sandbox?labels={labels}&limit=1");
    let answer = match api.service(Method::GET, &path, Content::Nothing).await {
        // Older services have no pages there.
        Err(fault) if matches!(fault.status, Some(400 | 404 | 405)) => Value::Null,
        answer => answer?,
    };
    let first = |answer: &Value| {
        let list = answer.get("items").unwrap_or(answer).as_array()?;
        let mut sandboxes = list.iter().filter_map(Sandbox::read);
        Some(sandboxes.find(|it| it.phase() != Phase::IsGone))
    };
    if let Some(found) = first(&answer) {
        return Ok(found);
    }
    let path = format!("sandbox/paginated?labels={labels}&page=1&limit=1");
    match api.service(Method::GET, &path, Content::Nothing).await {
        Ok(answer) => Ok(first(&answer).flatten()),
        Err(fault) if fault.is_absent() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// The name of a task's sandbox.
fn name(task: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    format!("hermes-{}", task.chars().map(plain).take(100).collect::<String>())
}

/// A sandbox that runs: the task's own where it is kept, else a new one.
pub(crate) async fn acquire(api: &Api, options: &Options) -> Result<Sandbox, StartFailure> {
    let name = name(&options.task);
    if options.is_persistent {
        let what = "looking for the sandbox";
        let mut found = find(api, &name).await.map_err(|fault| fault.to(what))?;
        if found.is_none() {
            found = find_by_label(api, &options.task).await.map_err(|fault| fault.to(what))?;
        }
        if let Some(found) = found {
            return started(api, options, found).await;
        }
    }
    let made = match create(api, options, &name).await {
        // Somebody was faster, or the name belongs to one that is being deleted.
        Err(fault) if fault.status == Some(409) => {
            let found = if options.is_persistent { find(api, &name).await } else { Ok(None) };
            match found.map_err(|fault| fault.to("looking for the sandbox"))? {
                Some(found) => Ok(found),
                None => {
                    create(api, options, &format!("{name}-{:06x}", fastrand::u32(..1 << 24))).await
                }
            }
        }
        made => made,
    };
    let made = made.map_err(|fault| fault.to("making a sandbox"))?;
    let id = made.id.clone();
    match started(api, options, made).await {
        Ok(sandbox) => Ok(sandbox),
        Err(failure) => {
            // What never ran has nothing to be kept.
            delete(api, &id).await;
            Err(failure)
        }
    }
}

async fn create(api: &Api, options: &Options, name: &str) -> Result<Sandbox, Fault> {
    // A line break would be another command.
    if options.image.is_empty() || options.image.contains(|c: char| c.is_whitespace()) {
        return Err(Fault::other(format!("{:?} is no name of an image", options.image)));
    }
    let mut body = json!({
        "name": name,
        "env": {},
        "labels": { LABEL: options.task, "code-toolbox-language": "python" },
        "autoStopInterval": 0,
        "cpu": options.cpu,
        "memory": options.memory,
        "disk": options.disk,
        "buildInfo": { "dockerfileContent": format!("FROM {}\n", options.image) },
    });
    if let (Some(target), Some(body)) = (&options.target, body.as_object_mut()) {
        body.insert("target".to_owned(), target.as_str().into());
    }
    read(&api.service(Method::POST, "sandbox", Content::Json(body)).await?)
}

/// Waits until a sandbox runs, and starts it if it doesn't by itself.
async fn started(
    api: &Api,
    options: &Options,
    mut sandbox: Sandbox,
) -> Result<Sandbox, StartFailure> {
    let begun = Instant::now();
    let (mut pause, longest) = PAUSES;
    let mut is_asked = false;
    loop {
        let mut limit = options.start_limit;
        match sandbox.phase() {
            Phase::Runs => return Ok(sandbox),
            Phase::Sleeps if !is_asked => {
                let path = format!("sandbox/{}/start", encoded(&sandbox.id));
                match api.service(Method::POST, &path, Content::Nothing).await {
                    Ok(_) => is_asked = true,
                    // It is between two states: look again.
                    Err(fault) if matches!(fault.status, Some(400 | 409)) => {
                        tracing::debug!(%fault, "the sandbox can't be started yet");
                    }
                    Err(fault) => return Err(fault.to("starting the sandbox")),
                }
            }
            Phase::IsBroken => {
                let why = sandbox.error.as_deref().unwrap_or("the provider gives no reason");
                let message = format!("the sandbox is broken ({}): {why}", sandbox.state);
                return Err(StartFailure::new(message));
            }
            Phase::IsGone => return Err(StartFailure::gone("the sandbox was deleted")),
            Phase::IsBuilt => limit = options.build_limit,
            Phase::Moves | Phase::Sleeps => {}
        }
        if begun.elapsed() > limit {
            let (state, limit) = (&sandbox.state, limit.as_secs());
            let message = format!("the sandbox is still {state:?} after {limit} s");
            return Err(StartFailure::passing(message));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(longest);
        sandbox = match get(api, &sandbox.id).await {
            Err(fault) if fault.is_absent() => {
                return Err(StartFailure::gone("the sandbox was deleted"));
            }
            looked => looked.map_err(|fault| fault.to("looking at the sandbox"))?,
        };
    }
}

/// Makes sure that a sandbox runs. Whether it had to be started.
pub(crate) async fn wake(api: &Api, options: &Options, id: &str) -> Result<bool, StartFailure> {
    let sandbox = match get(api, id).await {
        Err(fault) if fault.is_absent() => {
            return Err(StartFailure::gone("the sandbox was deleted"));
        }
        looked => looked.map_err(|fault| fault.to("looking at the sandbox"))?,
    };
    if sandbox.phase() == Phase::Runs {
        return Ok(false);
    }
    started(api, options, sandbox).await.map(|_| true)
}

/// Where the toolbox of a sandbox is.
pub(crate) async fn toolbox_url(api: &Api, sandbox: &Sandbox) -> Result<String, Fault> {
    let proxy = match &sandbox.toolbox {
        Some(url) => url.clone(),
        None => {
            let path = format!("sandbox/{}/toolbox-proxy-url", encoded(&sandbox.id));
            let answer = api.service(Method::GET, &path, Content::Nothing).await?;
            let url = answer.get("url").and_then(Value::as_str).map(str::to_owned);
            url.ok_or_else(|| Fault::other("the service doesn't say where the toolbox is"))?
        }
    };
    Ok(format!("{}/{}", proxy.trim_end_matches('/'), encoded(&sandbox.id)))
}

/// Stops a sandbox; its files stay.
pub(crate) async fn stop(api: &Api, id: &str) {
    let path = format!("sandbox/{}/stop?force=false", encoded(id));
    if let Err(fault) = api.service(Method::POST, &path, Content::Nothing).await
        && !fault.is_absent()
    {
        tracing::warn!(%fault, sandbox = id, "a sandbox isn't stopped");
    }
}

/// Deletes a sandbox.
pub(crate) async fn delete(api: &Api, id: &str) {
    let path = format!("sandbox/{}", encoded(id));
    if let Err(fault) = api.service(Method::DELETE, &path, Content::Nothing).await
        && !fault.is_absent()
    {
        tracing::warn!(%fault, sandbox = id, "a sandbox isn't deleted");
    }
}
