//! What the fake answers.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hermes_exec::remote::ending;
use hyper::body::Incoming;
use hyper::http;
use tonic::{Code, Status};

use super::exec::Exec;
use super::grpc::{Answer, Asked, Context_, streaming, unary};
use super::more::{
    EnvironmentGetOrCreateRequest, EnvironmentGetOrCreateResponse, EnvironmentMetadata,
    EnvironmentSettings,
};
use super::proto::*;
use super::{Fault, State};

pub(crate) const TOKEN_ID: &str = "ak-test";
pub(crate) const TOKEN_SECRET: &str = "as-test";

/// A token as clients want to read it, good for a long time.
fn signed(name: &str, number: u32) -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let claims = format!(r#"{{"exp":4102444800,"name":"{name}-{number}"}}"#);
    format!("{}.{}.signature", part(r#"{"alg":"HS256"}"#), part(&claims))
}

fn authenticated(context: &Context_) -> Result<(), Status> {
    let expected = [
        ("x-modal-token-id", TOKEN_ID),
        ("x-modal-token-secret", TOKEN_SECRET),
        ("x-modal-client-type", "1"),
    ];
    for (name, value) in expected {
        if context.meta(name) != Some(value) {
            return Err(Status::unauthenticated(format!("{name} is wrong")));
        }
    }
    if context.meta("x-modal-client-version").is_none() {
        return Err(Status::failed_precondition("no version"));
    }
    Ok(())
}

/// The newer calls want more.
fn authorized(context: &Context_) -> Result<(), Status> {
    authenticated(context)?;
    if context.state.lock().settings.is_old {
        return Err(Status::unimplemented("not yet"));
    }
    let expected = signed("auth", context.state.lock().auth);
    match context.meta("x-modal-auth-token") {
        Some(token) if token == expected => Ok(()),
        _ => Err(Status::unauthenticated("x-modal-auth-token is wrong")),
    }
}

fn for_worker(context: &Context_) -> Result<(), Status> {
    let state = context.state.lock();
    if state.settings.is_gone {
        return Err(Status::not_found("no such task"));
    }
    if context.meta("authorization") == Some(&format!("Bearer {}", signed("jwt", state.jwt))) {
        Ok(())
    } else {
        Err(Status::unauthenticated("jwt"))
    }
}

fn access(state: &State) -> CommandRouterAccess {
    CommandRouterAccess { jwt: signed("jwt", state.lock().jwt), url: state.url.clone() }
}

/// A new sandbox's name.
fn create(context: &Context_, request: &SandboxCreateRequest) -> Result<String, Status> {
    let mut state = context.state.lock();
    let definition = request.definition.as_ref().unwrap();
    if state.settings.broken_images.contains(&definition.image_id) {
        return Err(Status::failed_precondition("the image is broken"));
    }
    state.sandboxes += 1;
    Ok(format!("sb-{}", state.sandboxes))
}

fn exec(context: &Context_, id: &str) -> Result<Arc<Exec>, Status> {
    for_worker(context)?;
    let found = context.state.lock().execs.get(id).cloned();
    found.ok_or_else(|| Status::not_found("no such exec"))
}

async fn terminate(state: Arc<State>) {
    let ids: Vec<String> = state.lock().execs.keys().cloned().collect();
    for id in ids {
        let argv = ending(&id, std::time::Duration::ZERO, "/tmp");
        let request = TaskExecStartRequest { command_args: argv, ..Default::default() };
        if let Ok(exec) = Exec::start(&request) {
            let _ = exec.exit.clone().wait_for(Option::is_some).await;
        }
    }
}

fn ready(status: Status) -> Answer {
    Box::pin(std::future::ready(status.into_http()))
}

pub(crate) fn answer(state: Arc<State>, request: http::Request<Incoming>) -> Answer {
    let path = request.uri().path().to_owned();
    let mut parts = path.split('/').skip(1).map(str::to_owned);
    let service = parts.next().unwrap();
    let asked = Asked { state, method: parts.next().unwrap(), request };
    match &*service {
        "modal.client.ModalClient" => client(asked),
        "modal.task_command_router.TaskCommandRouter" => worker(asked),
        _ => ready(Status::unimplemented(service)),
    }
}

fn client(asked: Asked) -> Answer {
    let method = asked.method.clone();
    match &*method {
        "ClientHello" => unary(asked, |cx, _: Empty| async move {
            authenticated(&cx)?;
            let image_builder_version = "2025.06".to_owned();
            Ok(ClientHelloResponse { warning: String::new(), image_builder_version })
        }),
        "AppGetOrCreate" => unary(asked, |cx, request: AppGetOrCreateRequest| async move {
            authenticated(&cx)?;
            Ok(AppGetOrCreateResponse { app_id: format!("ap-{}", request.app_name) })
        }),
        "EnvironmentGetOrCreate" => {
            unary(asked, |cx, request: EnvironmentGetOrCreateRequest| async move {
                authenticated(&cx)?;
                let settings = EnvironmentSettings { image_builder_version: "2025.06".to_owned() };
                let metadata =
                    EnvironmentMetadata { name: request.deployment_name, settings: Some(settings) };
                Ok(EnvironmentGetOrCreateResponse {
                    environment_id: "en-1".to_owned(),
                    metadata: Some(metadata),
                })
            })
        }
        "AuthTokenGet" => unary(asked, |cx, _: Empty| async move {
            authenticated(&cx)?;
            if cx.state.lock().settings.is_old {
                return Err(Status::unimplemented("not yet"));
            }
            let token = signed("auth", cx.state.lock().auth);
            Ok(AuthTokenGetResponse { token })
        }),
        "ImageFromId" => unary(asked, |cx, request: ImageFromIdRequest| async move {
            authenticated(&cx)?;
            Ok(ImageFromIdResponse { image_id: request.image_id })
        }),
        "ImageGetOrCreate" => unary(asked, |cx, _: ImageGetOrCreateRequest| async move {
            authenticated(&cx)?;
            let status = i32::from(cx.state.lock().settings.build.is_empty());
            let result = Some(GenericResult { status, exception: String::new() });
            Ok(ImageGetOrCreateResponse { image_id: "im-built".to_owned(), result })
        }),
        "ImageJoinStreaming" => {
            streaming(asked, |cx, request: ImageJoinStreamingRequest, _, to| async move {
                let last: u32 = request.last_entry_id.parse().unwrap_or_default();
                let news = cx.state.lock().settings.build.pop_front().unwrap_or_default();
                for (at, (status, line)) in news.into_iter().enumerate() {
                    let result =
                        (status > 0).then(|| GenericResult { status, exception: "exit 1".into() });
                    let news = ImageJoinStreamingResponse {
                        result,
                        task_logs: vec![TaskLogs { data: line.to_owned() }],
                        entry_id: (last + 1 + u32::try_from(at).unwrap()).to_string(),
                        eof: status > 0,
                    };
                    let _ = to.send(Ok(news)).await;
                }
            })
        }
        "SandboxCreate" => unary(asked, |cx, request: SandboxCreateRequest| async move {
            authenticated(&cx)?;
            Ok(SandboxCreateResponse { sandbox_id: create(&cx, &request)? })
        }),
        "SandboxCreateV2" => unary(asked, |cx, request: SandboxCreateRequest| async move {
            authorized(&cx)?;
            let sandbox_id = create(&cx, &request)?;
            Ok(SandboxCreateV2Response {
                task_id: format!("ta-{sandbox_id}"),
                sandbox_id,
                command_router_access: Some(access(&cx.state)),
                sandbox_token: "token-of-the-sandbox".to_owned(),
            })
        }),
        "SandboxGetTaskId" | "SandboxGetTaskIdV2" => {
            unary(asked, |cx, request: SandboxGetTaskIdRequest| async move {
                let mut state = cx.state.lock();
                let waits = &mut state.settings.not_ready;
                let is_ready = *waits == 0;
                *waits = waits.saturating_sub(1);
                let task_id = is_ready.then(|| format!("ta-{}", request.sandbox_id));
                Ok(SandboxGetTaskIdResponse { task_id, task_result: None })
            })
        }
        "TaskGetCommandRouterAccess" => {
            unary(asked, |cx, _: TaskGetCommandRouterAccessRequest| async move {
                authenticated(&cx)?;
                Ok(access(&cx.state))
            })
        }
        "SandboxGetCommandRouterAccess" => unary(asked, |cx, _: SandboxRequest| async move {
            authorized(&cx)?;
            Ok(access(&cx.state))
        }),
        "SandboxSnapshotFs" => unary(asked, |cx, _: SandboxSnapshotFsRequest| async move {
            authenticated(&cx)?;
            Ok(SandboxSnapshotFsResponse { image_id: "im-by-service".to_owned(), result: None })
        }),
        "SandboxTerminate" => unary(asked, |cx, _: SandboxRequest| async move {
            authenticated(&cx)?;
            terminate(cx.state).await;
            Ok(Empty {})
        }),
        "SandboxTerminateV2" => unary(asked, |cx, _: SandboxRequest| async move {
            authorized(&cx)?;
            terminate(cx.state).await;
            Ok(Empty {})
        }),
        other => ready(Status::unimplemented(other)),
    }
}

fn worker(asked: Asked) -> Answer {
    let method = asked.method.clone();
    match &*method {
        "TaskExecStart" => unary(asked, |cx, request: TaskExecStartRequest| async move {
            for_worker(&cx)?;
            let mut state = cx.state.lock();
            // The same id is the same wish.
            if let Entry::Vacant(vacant) = state.execs.entry(request.exec_id.clone()) {
                let exec = Exec::start(&request);
                vacant.insert(Arc::new(exec.map_err(|err| Status::internal(err.to_string()))?));
            }
            Ok(Empty {})
        }),
        "TaskExecStdioRead" => {
            streaming(asked, |cx, request: TaskExecStdioReadRequest, fault, to| async move {
                let exec = match exec(&cx, &request.exec_id) {
                    Ok(exec) => exec,
                    Err(status) => return drop(to.send(Err(status)).await),
                };
                let output = &exec.streams[usize::try_from(request.file_descriptor).unwrap()];
                let mut offset = usize::try_from(request.offset).unwrap();
                let mut most = match fault {
                    Some(Fault::Break(bytes)) => bytes,
                    _ => usize::MAX,
                };
                loop {
                    let news = output.news.notified();
                    tokio::pin!(news);
                    news.as_mut().enable();
                    let (piece, is_over) = {
                        let written = output.written.lock().unwrap();
                        let rest = written.bytes.get(offset..).unwrap_or_default();
                        let count = rest.len().min(10_000).min(most);
                        (
                            Bytes::copy_from_slice(&rest[..count]),
                            written.is_over && count == rest.len(),
                        )
                    };
                    if most == 0 {
                        let broken = Status::new(Code::Unavailable, "broken on purpose");
                        return drop(to.send(Err(broken)).await);
                    }
                    offset += piece.len();
                    most -= piece.len();
                    let is_empty = piece.is_empty();
                    if !is_empty
                        && to.send(Ok(TaskExecStdioReadResponse { data: piece })).await.is_err()
                    {
                        return;
                    }
                    if is_over && most > 0 {
                        return;
                    }
                    if is_empty {
                        news.await;
                    }
                }
            })
        }
        "TaskExecStdinWrite" => unary(asked, |cx, request: TaskExecStdinWriteRequest| async move {
            let exec = exec(&cx, &request.exec_id)?;
            let written = exec.write(request.offset, &request.data, request.eof).await;
            written.map(|()| Empty {}).map_err(Status::failed_precondition)
        }),
        "TaskExecWait" | "TaskExecPoll" => {
            unary(asked, |cx, request: TaskExecRequest| async move {
                let exec = exec(&cx, &request.exec_id)?;
                let mut exit = exec.exit.clone();
                let long = std::time::Duration::from_secs(50);
                let ended = tokio::time::timeout(long, exit.wait_for(Option::is_some)).await;
                let exit_status = ended.ok().and_then(|exit| *exit.unwrap());
                Ok(TaskExecWaitResponse { exit_status })
            })
        }
        "TaskSnapshotFilesystem" => {
            unary(asked, |cx, _: TaskSnapshotFilesystemRequest| async move {
                for_worker(&cx)?;
                let mut state = cx.state.lock();
                state.snapshots += 1;
                let image_id = format!("im-snapshot-{}", state.snapshots);
                Ok(TaskSnapshotFilesystemResponse { image_id })
            })
        }
        other => ready(Status::unimplemented(other)),
    }
}
