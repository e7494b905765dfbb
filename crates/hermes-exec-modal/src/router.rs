//! The worker that runs a sandbox, and with it the commands.

use std::sync::Arc;

use prost::Message;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status, Streaming};

use crate::api::Api;
use crate::channel::Channel;
use crate::proto::{
    CommandRouterAccess, TaskSnapshotFilesystemRequest, TaskSnapshotFilesystemResponse,
};
use crate::rpc::{self, Method, Tries, insert};
use crate::sandbox::{Sandbox, new_snapshot};

const SNAPSHOT: Method =
    Method::new("/modal.task_command_router.TaskCommandRouter/TaskSnapshotFilesystem", 120);

/// The worker of one sandbox.
pub(crate) struct Router {
    api: Arc<Api>,
    pub(crate) sandbox: Sandbox,
    access: tokio::sync::Mutex<Access>,
}

/// Where it is and what it wants to see.
#[derive(Clone)]
struct Access {
    given: CommandRouterAccess,
    channel: Channel,
    metadata: MetadataMap,
}

impl Access {
    fn new(api: &Api, given: CommandRouterAccess) -> Result<Self, Status> {
        let mut metadata = MetadataMap::new();
        insert(&mut metadata, "authorization", &format!("Bearer {}", given.jwt));
        Ok(Self { channel: api.worker(&given.url)?, given, metadata })
    }
}

impl Router {
    pub(crate) fn new(
        api: Arc<Api>,
        sandbox: Sandbox,
        access: CommandRouterAccess,
    ) -> Result<Self, Status> {
        let access = tokio::sync::Mutex::new(Access::new(&api, access)?);
        Ok(Self { api, sandbox, access })
    }

    /// The name of what runs in the sandbox.
    pub(crate) fn task(&self) -> String {
        self.sandbox.task.clone()
    }

    /// Access that isn't `stale`, which was refused.
    async fn renewed(&self, stale: &CommandRouterAccess) -> Result<Access, Status> {
        let mut access = self.access.lock().await;
        if access.given == *stale {
            let given = self.sandbox.access(&self.api).await?;
            if given.url == access.given.url {
                // The connection is as good as before.
                let renewed = Access::new(&self.api, given)?;
                *access = Access { channel: access.channel.clone(), ..renewed };
            } else {
                *access = Access::new(&self.api, given)?;
            }
        }
        Ok(access.clone())
    }

    /// Does `call` with access; once more with a new one where it is refused.
    async fn with_access<A, F>(&self, mut call: impl FnMut(Access) -> F) -> Result<A, Status>
    where
        F: Future<Output = Result<A, Status>>,
    {
        let access = self.access.lock().await.clone();
        let given = access.given.clone();
        match call(access).await {
            Err(status) if status.code() == Code::Unauthenticated => {
                call(self.renewed(&given).await?).await
            }
            result => result,
        }
    }

    /// Asks once.
    pub(crate) async fn once<Q, A>(&self, method: Method, message: Q) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let call = |access: Access| {
            let message = message.clone();
            async move { rpc::unary(&access.channel, method, &access.metadata, message).await }
        };
        self.with_access(call).await
    }

    /// Asks until it goes well: for what does no harm when it is done twice.
    pub(crate) async fn call<Q, A>(&self, method: Method, message: Q) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let mut tries = Tries::of_worker();
        loop {
            match self.once(method, message.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(status) => tries.again(status).await?,
            }
        }
    }

    /// Asks for a stream, once.
    pub(crate) async fn stream<Q, A>(
        &self,
        method: Method,
        message: Q,
    ) -> Result<Streaming<A>, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let call = |access: Access| {
            let message = message.clone();
            async move { rpc::stream(&access.channel, method, &access.metadata, message).await }
        };
        self.with_access(call).await
    }

    /// An image of the sandbox's files. Where the worker can't make one, the service is asked.
    pub(crate) async fn snapshot(&self) -> Result<String, Status> {
        let request =
            TaskSnapshotFilesystemRequest { task_id: self.task(), snapshot_id: new_snapshot() };
        let made: Result<TaskSnapshotFilesystemResponse, Status> =
            self.call(SNAPSHOT, request).await;
        match made {
            Ok(made) if !made.image_id.is_empty() => Ok(made.image_id),
            Ok(_) => self.sandbox.snapshot(&self.api).await,
            Err(err) => {
                tracing::debug!(%err, "the worker makes no snapshot");
                self.sandbox.snapshot(&self.api).await
            }
        }
    }

    /// Ends the sandbox.
    pub(crate) async fn terminate(&self) {
        self.sandbox.terminate(&self.api).await;
    }
}
