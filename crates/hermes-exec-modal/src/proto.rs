//! The messages of the protocol: only the fields that are used, by their numbers. What else comes is
//! skipped.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Empty {}

/// How something of the provider's ended: an image's build, a sandbox's task.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct GenericResult {
    /// 0 while it goes on; then one of [`status`].
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
    #[prost(string, tag = "2")]
    pub(crate) exception: String,
}

/// The values of [`GenericResult::status`] that are told apart.
pub(crate) mod status {
    pub(crate) const SUCCESS: i32 = 1;
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ClientHelloResponse {
    #[prost(string, tag = "1")]
    pub(crate) warning: String,
    #[prost(string, tag = "2")]
    pub(crate) image_builder_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AppGetOrCreateRequest {
    #[prost(string, tag = "1")]
    pub(crate) app_name: String,
    #[prost(string, tag = "2")]
    pub(crate) environment_name: String,
    /// 1: create it if it isn't there.
    #[prost(int32, tag = "3")]
    pub(crate) object_creation_type: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AppGetOrCreateResponse {
    #[prost(string, tag = "1")]
    pub(crate) app_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Image {
    #[prost(string, repeated, tag = "6")]
    pub(crate) dockerfile_commands: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImageGetOrCreateRequest {
    #[prost(message, optional, tag = "2")]
    pub(crate) image: Option<Image>,
    #[prost(string, tag = "4")]
    pub(crate) app_id: String,
    #[prost(string, tag = "9")]
    pub(crate) builder_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImageGetOrCreateResponse {
    #[prost(string, tag = "1")]
    pub(crate) image_id: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) result: Option<GenericResult>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImageJoinStreamingRequest {
    #[prost(string, tag = "1")]
    pub(crate) image_id: String,
    /// In seconds.
    #[prost(float, tag = "2")]
    pub(crate) timeout: f32,
    #[prost(string, tag = "3")]
    pub(crate) last_entry_id: String,
    #[prost(bool, tag = "4")]
    pub(crate) include_logs_for_finished: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskLogs {
    #[prost(string, tag = "1")]
    pub(crate) data: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImageJoinStreamingResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) result: Option<GenericResult>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) task_logs: Vec<TaskLogs>,
    #[prost(string, tag = "3")]
    pub(crate) entry_id: String,
    #[prost(bool, tag = "4")]
    pub(crate) eof: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImageFromIdRequest {
    #[prost(string, tag = "1")]
    pub(crate) image_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImageFromIdResponse {
    #[prost(string, tag = "1")]
    pub(crate) image_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Resources {
    #[prost(uint32, tag = "2")]
    pub(crate) memory_mb: u32,
    #[prost(uint32, tag = "3")]
    pub(crate) milli_cpu: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NetworkAccess {
    /// 1 open, 2 blocked.
    #[prost(int32, tag = "1")]
    pub(crate) network_access_type: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sandbox {
    #[prost(string, repeated, tag = "1")]
    pub(crate) entrypoint_args: Vec<String>,
    #[prost(string, tag = "3")]
    pub(crate) image_id: String,
    #[prost(message, optional, tag = "5")]
    pub(crate) resources: Option<Resources>,
    #[prost(uint32, tag = "7")]
    pub(crate) timeout_secs: u32,
    #[prost(message, optional, tag = "22")]
    pub(crate) network_access: Option<NetworkAccess>,
    #[prost(uint32, optional, tag = "33")]
    pub(crate) idle_timeout_secs: Option<u32>,
}

/// Of both ways to create one.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SandboxCreateRequest {
    #[prost(string, tag = "1")]
    pub(crate) app_id: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) definition: Option<Sandbox>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SandboxCreateResponse {
    #[prost(string, tag = "1")]
    pub(crate) sandbox_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AuthTokenGetResponse {
    #[prost(string, tag = "1")]
    pub(crate) token: String,
}

/// How commands get to a sandbox: the address of its worker, and what to show there.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CommandRouterAccess {
    #[prost(string, tag = "1")]
    pub(crate) jwt: String,
    #[prost(string, tag = "2")]
    pub(crate) url: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SandboxCreateV2Response {
    #[prost(string, tag = "1")]
    pub(crate) sandbox_id: String,
    #[prost(string, tag = "3")]
    pub(crate) task_id: String,
    #[prost(message, optional, tag = "5")]
    pub(crate) command_router_access: Option<CommandRouterAccess>,
    #[prost(string, tag = "6")]
    pub(crate) sandbox_token: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SandboxGetTaskIdRequest {
    #[prost(string, tag = "1")]
    pub(crate) sandbox_id: String,
    /// In seconds.
    #[prost(float, optional, tag = "2")]
    pub(crate) timeout: Option<f32>,
    #[prost(bool, tag = "3")]
    pub(crate) wait_until_ready: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SandboxGetTaskIdResponse {
    #[prost(string, optional, tag = "1")]
    pub(crate) task_id: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub(crate) task_result: Option<GenericResult>,
}

/// A request that names a sandbox and nothing else.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SandboxRequest {
    #[prost(string, tag = "1")]
    pub(crate) sandbox_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskGetCommandRouterAccessRequest {
    #[prost(string, tag = "1")]
    pub(crate) task_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SandboxSnapshotFsRequest {
    #[prost(string, tag = "1")]
    pub(crate) sandbox_id: String,
    /// In seconds.
    #[prost(float, tag = "2")]
    pub(crate) timeout: f32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SandboxSnapshotFsResponse {
    #[prost(string, tag = "1")]
    pub(crate) image_id: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) result: Option<GenericResult>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PtyInfo {
    #[prost(bool, tag = "1")]
    pub(crate) enabled: bool,
    #[prost(uint32, tag = "2")]
    pub(crate) winsz_rows: u32,
    #[prost(uint32, tag = "3")]
    pub(crate) winsz_cols: u32,
    #[prost(string, tag = "4")]
    pub(crate) env_term: String,
    /// 2: a shell's.
    #[prost(int32, tag = "7")]
    pub(crate) pty_type: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskExecStartRequest {
    #[prost(string, tag = "1")]
    pub(crate) task_id: String,
    #[prost(string, tag = "2")]
    pub(crate) exec_id: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) command_args: Vec<String>,
    /// 0 nowhere, 1 to be read.
    #[prost(int32, tag = "4")]
    pub(crate) stdout_config: i32,
    /// 0 nowhere, 1 to be read, 2 where stdout goes.
    #[prost(int32, tag = "5")]
    pub(crate) stderr_config: i32,
    #[prost(message, optional, tag = "9")]
    pub(crate) pty_info: Option<PtyInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskExecStdioReadRequest {
    #[prost(string, tag = "1")]
    pub(crate) task_id: String,
    #[prost(string, tag = "2")]
    pub(crate) exec_id: String,
    /// Bytes that were read before.
    #[prost(uint64, tag = "3")]
    pub(crate) offset: u64,
    /// 0 stdout, 1 stderr.
    #[prost(int32, tag = "4")]
    pub(crate) file_descriptor: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskExecStdioReadResponse {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) data: bytes::Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskExecStdinWriteRequest {
    #[prost(string, tag = "1")]
    pub(crate) task_id: String,
    #[prost(string, tag = "2")]
    pub(crate) exec_id: String,
    /// Bytes that were written before.
    #[prost(uint64, tag = "3")]
    pub(crate) offset: u64,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) data: bytes::Bytes,
    #[prost(bool, tag = "5")]
    pub(crate) eof: bool,
}

/// A request that names a command and nothing else.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskExecRequest {
    #[prost(string, tag = "1")]
    pub(crate) task_id: String,
    #[prost(string, tag = "2")]
    pub(crate) exec_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskExecWaitResponse {
    #[prost(oneof = "ExitStatus", tags = "1, 2")]
    pub(crate) exit_status: Option<ExitStatus>,
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, prost::Oneof)]
pub(crate) enum ExitStatus {
    #[prost(int32, tag = "1")]
    Code(i32),
    #[prost(int32, tag = "2")]
    Signal(i32),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskSnapshotFilesystemRequest {
    #[prost(string, tag = "1")]
    pub(crate) task_id: String,
    #[prost(string, tag = "2")]
    pub(crate) snapshot_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TaskSnapshotFilesystemResponse {
    #[prost(string, tag = "1")]
    pub(crate) image_id: String,
}
