//! One sandbox: made, reached, kept, ended.

use hermes_exec::environment::StartFailure;
use tonic::{Code, Status};

use crate::api::{Api, new_uuid};
use crate::options::Options;
use crate::proto::{
    CommandRouterAccess, Empty, NetworkAccess, Resources, Sandbox as Definition,
    SandboxCreateRequest, SandboxCreateResponse, SandboxCreateV2Response, SandboxGetTaskIdRequest,
    SandboxGetTaskIdResponse, SandboxRequest, SandboxSnapshotFsRequest, SandboxSnapshotFsResponse,
    TaskGetCommandRouterAccessRequest, status,
};
use crate::rpc::{Method, failure};

/// How long one request waits for the sandbox to run, in seconds, and how often it is made.
const READY: f32 = 50.0;
const MOST_WAITS: usize = 6;

const CREATE: Method = Method::new("/modal.client.ModalClient/SandboxCreate", 120);
const CREATE_V2: Method = Method::new("/modal.client.ModalClient/SandboxCreateV2", 300);
const TASK_ID: Method = Method::new("/modal.client.ModalClient/SandboxGetTaskId", 60);
const ACCESS: Method = Method::new("/modal.client.ModalClient/TaskGetCommandRouterAccess", 30);
const ACCESS_V2: Method =
    Method::new("/modal.client.ModalClient/SandboxGetCommandRouterAccess", 30);
const SNAPSHOT: Method = Method::new("/modal.client.ModalClient/SandboxSnapshotFs", 120);
const TERMINATE: Method = Method::new("/modal.client.ModalClient/SandboxTerminate", 60);
const TERMINATE_V2: Method = Method::new("/modal.client.ModalClient/SandboxTerminateV2", 60);

/// A sandbox of the provider's.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub(crate) id: String,
    /// What runs in it: the name that workers know it by.
    pub(crate) task: String,
    generation: Generation,
}

/// By which of its two families of calls a sandbox was made.
#[derive(Clone, Debug)]
enum Generation {
    First,
    Second { token: String },
}

/// Makes a sandbox from an image and waits until commands can run in it.
pub(crate) async fn create(
    api: &Api,
    options: &Options,
    app: &str,
    image: &str,
) -> Result<(Sandbox, CommandRouterAccess), StartFailure> {
    let whole = |seconds: std::time::Duration| u32::try_from(seconds.as_secs()).unwrap_or(u32::MAX);
    let definition = Definition {
        entrypoint_args: ["sleep", "infinity"].map(str::to_owned).to_vec(),
        image_id: image.to_owned(),
        resources: Some(Resources { memory_mb: options.memory_mb, milli_cpu: milli(options.cpu) }),
        timeout_secs: whole(options.lifetime),
        network_access: Some(NetworkAccess {
            network_access_type: if options.network { 1 } else { 2 },
        }),
        idle_timeout_secs: options.idle.map(whole),
    };
    let request = SandboxCreateRequest { app_id: app.to_owned(), definition: Some(definition) };
    let what = "making a sandbox";
    let second: Result<SandboxCreateV2Response, Status> =
        api.call_authorized(CREATE_V2, request.clone(), "").await;
    let (sandbox, access) = match second {
        Ok(made) => {
            let generation = Generation::Second { token: made.sandbox_token };
            let sandbox = Sandbox { id: made.sandbox_id, task: made.task_id, generation };
            (sandbox, made.command_router_access)
        }
        Err(status) if status.code() == Code::Unimplemented => {
            let made: SandboxCreateResponse =
                api.call(CREATE, request).await.map_err(|err| failure(what, &err))?;
            let task = String::new();
            (Sandbox { id: made.sandbox_id, task, generation: Generation::First }, None)
        }
        Err(status) => return Err(failure(what, &status)),
    };
    finish(api, sandbox, access).await
}

/// What is still unknown about a sandbox that was just made. If that can't be found out, the
/// sandbox is ended: nobody else knows of it.
async fn finish(
    api: &Api,
    mut sandbox: Sandbox,
    access: Option<CommandRouterAccess>,
) -> Result<(Sandbox, CommandRouterAccess), StartFailure> {
    let rest = async {
        if sandbox.task.is_empty() {
            sandbox.task = task(api, &sandbox.id).await?;
        }
        match access.filter(|access| !access.url.is_empty()) {
            Some(access) => Ok(access),
            None => {
                let reached = sandbox.access(api).await;
                reached.map_err(|err| failure("reaching the sandbox", &err))
            }
        }
    };
    match rest.await {
        Ok(access) => Ok((sandbox, access)),
        Err(failure) => {
            sandbox.terminate(api).await;
            Err(failure)
        }
    }
}

/// Waits until a sandbox runs. The answer is the name of what runs.
async fn task(api: &Api, sandbox: &str) -> Result<String, StartFailure> {
    for _ in 0..MOST_WAITS {
        let request = SandboxGetTaskIdRequest {
            sandbox_id: sandbox.to_owned(),
            timeout: Some(READY),
            wait_until_ready: true,
        };
        let answer: SandboxGetTaskIdResponse = api
            .call(TASK_ID, request)
            .await
            .map_err(|err| failure("waiting for the sandbox", &err))?;
        if let Some(result) = answer.task_result.filter(|it| it.status > status::SUCCESS) {
            let message = format!("the sandbox doesn't start: {}", result.exception);
            return Err(StartFailure::new(message));
        }
        if let Some(task) = answer.task_id.filter(|task| !task.is_empty()) {
            return Ok(task);
        }
    }
    Err(StartFailure::passing("the sandbox doesn't start in time"))
}

impl Sandbox {
    /// How commands get to it, as of now.
    pub(crate) async fn access(&self, api: &Api) -> Result<CommandRouterAccess, Status> {
        match &self.generation {
            Generation::First => {
                let request = TaskGetCommandRouterAccessRequest { task_id: self.task.clone() };
                api.call(ACCESS, request).await
            }
            Generation::Second { token } => {
                api.call_authorized(ACCESS_V2, self.request(), token).await
            }
        }
    }

    /// An image of its files, by the service. Workers do it faster.
    pub(crate) async fn snapshot(&self, api: &Api) -> Result<String, Status> {
        let timeout = SNAPSHOT.longest.as_secs_f32();
        let request = SandboxSnapshotFsRequest { sandbox_id: self.id.clone(), timeout };
        let answer: SandboxSnapshotFsResponse = api.call(SNAPSHOT, request).await?;
        match answer.result.filter(|result| result.status > status::SUCCESS) {
            Some(result) => Err(Status::failed_precondition(result.exception)),
            None => Ok(answer.image_id),
        }
    }

    /// Ends it.
    pub(crate) async fn terminate(&self, api: &Api) {
        let ended: Result<Empty, Status> = match &self.generation {
            Generation::First => api.call(TERMINATE, self.request()).await,
            Generation::Second { token } => {
                api.call_authorized(TERMINATE_V2, self.request(), token).await
            }
        };
        if let Err(err) = ended {
            tracing::warn!(%err, sandbox = %self.id, "a sandbox isn't ended; its lifetime will do it");
        }
    }

    fn request(&self) -> SandboxRequest {
        SandboxRequest { sandbox_id: self.id.clone() }
    }
}

/// Processors in thousandths.
fn milli(cpu: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    let milli = (cpu.clamp(0.0, 1000.0) * 1000.0).round() as u32;
    milli
}

/// The name of a snapshot to be made.
pub(crate) fn new_snapshot() -> String {
    new_uuid()
}
