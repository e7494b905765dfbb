//! One instance.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Running, StartFailure};
use hermes_exec_container::{Exec, Fate, Transport, unique};
use serde_json::Value;

use crate::client::Client;
use crate::options::Options;

/// How long an instance may take to start.
const START: Duration = Duration::from_secs(120);

/// The arguments of the client that start an instance. Without an overlay what is written is gone
/// with it.
#[must_use]
pub fn start_args(
    options: &Options,
    image: &str,
    overlay: Option<&Path>,
    name: &str,
) -> Vec<String> {
    let mut args = ["instance", "start", "--containall", "--no-home"].map(str::to_owned).to_vec();
    let mut pair = |key: &str, value: String| args.extend([key.to_owned(), value]);
    match overlay {
        Some(overlay) => pair("--overlay", overlay.display().to_string()),
        None => args.push("--writable-tmpfs".to_owned()),
    }
    let mut pair = |key: &str, value: String| args.extend([key.to_owned(), value]);
    for mount in &options.mounts {
        match mount.to_argument() {
            Some(argument) => pair("--bind", argument),
            None => tracing::warn!(path = %mount.host.display(), "can't be shown in an instance"),
        }
    }
    if options.memory_mb > 0 {
        pair("--memory", format!("{}M", options.memory_mb));
    }
    if options.cpu.is_finite() && options.cpu > 0.0 {
        pair("--cpus", options.cpu.to_string());
    }
    args.extend([image.to_owned(), name.to_owned()]);
    args
}

/// An instance that runs.
pub(crate) struct Instance {
    client: Client,
    pub(crate) name: String,
    /// How it was lost, once that was seen.
    gone: OnceLock<String>,
}

impl Instance {
    pub(crate) async fn start(
        client: &Client,
        options: &Options,
        image: &str,
        overlay: Option<&Path>,
    ) -> Result<Self, StartFailure> {
        let name = format!("hermes_{}", unique().chars().take(12).collect::<String>());
        let arguments = start_args(options, image, overlay, &name);
        let started = client.ask_for(START, &arguments).await;
        let instance = Self { client: client.clone(), name, gone: OnceLock::new() };
        if let Err(why) = started {
            // It may have come half way.
            let _ = instance.stop().await;
            return Err(StartFailure::passing(format!("the instance can't be started: {why}")));
        }
        Ok(instance)
    }

    /// How it was lost, if that was seen.
    pub(crate) fn gone(&self) -> Option<&str> {
        self.gone.get().map(String::as_str)
    }

    pub(crate) async fn stop(&self) -> Result<(), String> {
        self.client.ask(&["instance", "stop", &self.name]).await.map(drop)
    }

    async fn look(&self) -> Fate {
        let listed = match self.client.ask(&["instance", "list", "--json", &self.name]).await {
            Ok(listed) => listed,
            Err(why) => return Fate::Unknown(why),
        };
        let Ok(listed) = serde_json::from_str::<Value>(&listed) else {
            return Fate::Unknown("the list of instances can't be read".to_owned());
        };
        let instances = listed.get("instances").and_then(Value::as_array);
        let is_it = |instance: &Value| {
            instance.get("instance").and_then(Value::as_str) == Some(self.name.as_str())
        };
        if instances.is_some_and(|all| all.iter().any(is_it)) {
            return Fate::Running;
        }
        let how = self.gone.get_or_init(|| "the instance has stopped".to_owned());
        Fate::Gone(how.clone())
    }
}

impl Transport for Instance {
    fn exec(&self, exec: Exec) -> BoxFuture<'_, Result<Running, StartFailure>> {
        // There is one user in an instance: another one can't be asked for, nor is there any need.
        Box::pin(std::future::ready(self.client.exec(&self.name, &exec)))
    }

    fn fate(&self) -> BoxFuture<'_, Fate> {
        Box::pin(self.look())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_exec_container::Mount;
    use pretty_assertions::assert_eq;

    #[test]
    fn arguments() {
        let mount = Mount { host: "/h".into(), container: "/c".into(), read_only: true };
        let options =
            Options { mounts: vec![mount], memory_mb: 64, cpu: 2.0, ..Options::default() };
        assert_eq!(
            start_args(&options, "i.sif", Some(Path::new("/o")), "n").join(" "),
            "instance start --containall --no-home --overlay /o --bind /h:/c:ro --memory 64M \
             --cpus 2 i.sif n"
        );
        assert_eq!(
            start_args(&Options::default(), "i", None, "n").join(" "),
            "instance start --containall --no-home --writable-tmpfs i n"
        );
    }
}
