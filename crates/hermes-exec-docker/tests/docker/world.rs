//! An engine and containers for one test.

use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::{Close, Environment as _, Exit, Running, Start};
use hermes_exec::program::Program;
use hermes_exec_docker::{DockerEnvironment, Engine, Options};
use tokio::io::AsyncReadExt as _;

/// The engine that tests may use, and how it is reached.
pub(crate) struct World {
    pub(crate) engine: Arc<Engine>,
    pub(crate) image: String,
    pub(crate) profile: String,
    env: Vec<(String, String)>,
}

/// How commands reach the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Socket,
    Client,
}

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a test is its own host")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl World {
    /// None if there is no engine that tests may use.
    pub(crate) async fn new(by: By) -> Option<Self> {
        let names = ["HERMES_TEST_DOCKER_HOST", "HERMES_TEST_DOCKER", "HERMES_TEST_DOCKER_IMAGE"];
        let [host, client, image] = names.map(variable);
        let (Some(host), Some(client), Some(image)) = (host, client, image) else {
            println!("skipped: {} are not set, so there is no engine", names.join(", "));
            return None;
        };
        let env: Vec<(String, String)> = [
            ("DOCKER_HOST", host.as_str()),
            ("HERMES_DOCKER_BINARY", client.as_str()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        let engine = match by {
            By::Socket => Engine::find(&env).await.unwrap(),
            By::Client => Engine::find_client(&env).await.unwrap(),
        };
        assert_eq!(engine.has_socket(), by == By::Socket);
        let profile = format!("test-{}", hermes_exec_container::unique());
        Some(Self { engine, image, profile, env })
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            image: self.image.clone(),
            profile: self.profile.clone(),
            network: false,
            persist_across_processes: true,
            ..Options::default()
        }
    }

    /// A container with the usual options.
    pub(crate) async fn open(&self) -> Machine {
        self.open_with(self.options()).await
    }

    pub(crate) async fn open_with(&self, options: Options) -> Machine {
        Machine(self.engine.open(options).await.unwrap())
    }

    /// Runs the engine's client.
    pub(crate) async fn docker(&self, arguments: &[&str]) -> String {
        let file = self.env.iter().find(|(name, _)| name == "HERMES_DOCKER_BINARY").unwrap();
        let words = std::iter::once(file.1.as_str()).chain(arguments.iter().copied());
        let program = Program::new(words).env(self.env.iter().cloned());
        let finished = program.timeout(Duration::from_secs(100)).run().await.unwrap();
        assert_eq!(finished.stderr.text(), "", "{arguments:?}");
        finished.stdout.text().trim().to_owned()
    }

    /// The containers of this test.
    pub(crate) async fn containers(&self) -> Vec<String> {
        let filter = format!("label=hermes-profile={}", self.profile);
        let ids = self.docker(&["ps", "-aq", "--no-trunc", "--filter", &filter]).await;
        ids.lines().map(str::to_owned).collect()
    }
}

/// Does something with both ways to the engine.
pub(crate) async fn by_both<F: Future<Output = ()>>(test: impl Fn(World, By) -> F) {
    for by in [By::Socket, By::Client] {
        if let Some(world) = World::new(by).await {
            println!("by {by:?}");
            test(world, by).await;
        }
    }
}

/// A container to run things in.
pub(crate) struct Machine(pub(crate) DockerEnvironment);

impl Machine {
    pub(crate) async fn start(&self, start: Start) -> Running {
        self.0.start(start).await.unwrap()
    }

    /// What a script says, and how it ends.
    pub(crate) async fn run(&self, script: &str) -> (String, Exit) {
        self.run_as(Start::new(script)).await
    }

    pub(crate) async fn run_as(&self, start: Start) -> (String, Exit) {
        finish(self.start(start).await).await
    }

    /// How many processes of the container have this word in their arguments, those that look not
    /// counted.
    pub(crate) async fn count(&self, word: &str) -> usize {
        let script = format!(
            "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f 2>/dev/null; echo; done | \
             grep '{word}' | grep -v cmdline"
        );
        self.run(&script).await.0.lines().filter(|line| !line.is_empty()).count()
    }

    /// Waits until so many processes have this word in their arguments.
    pub(crate) async fn becomes(&self, word: &str, count: usize) {
        for _ in 0..100 {
            if self.count(word).await == count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{word}: {} and not {count}", self.count(word).await);
    }

    pub(crate) async fn remove(&self) {
        self.0.close(Close::Remove).await;
    }
}

/// All that a command says, and how it ends.
pub(crate) async fn finish(mut running: Running) -> (String, Exit) {
    let mut output = Vec::new();
    running.output.read_to_end(&mut output).await.unwrap();
    let exit = running.handle.wait().await;
    running.handle.release();
    (String::from_utf8_lossy(&output).into_owned(), exit)
}
