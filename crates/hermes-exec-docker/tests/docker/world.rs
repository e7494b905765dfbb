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
    Podman,
}

impl By {
    /// The variables with what is needed for it: the client, the image and the socket.
    fn needed(self) -> &'static [&'static str] {
        match self {
            Self::Socket | Self::Client => {
                &["HERMES_TEST_DOCKER", "HERMES_TEST_DOCKER_IMAGE", "HERMES_TEST_DOCKER_HOST"]
            }
            Self::Podman => &["HERMES_TEST_PODMAN", "HERMES_TEST_PODMAN_IMAGE"],
        }
    }
}

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a test is its own host")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl World {
    /// None if there is no engine that tests may use.
    pub(crate) async fn new(by: By) -> Option<Self> {
        let names = by.needed();
        let values: Option<Vec<String>> = names.iter().map(|name| variable(name)).collect();
        let Some(mut values) = values else {
            println!("skipped: {} are not all set, so there is no engine", names.join(", "));
            return None;
        };
        let mut env = vec![
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HERMES_DOCKER_BINARY".to_owned(), values.remove(0)),
        ];
        let image = values.remove(0);
        if let Some(host) = values.pop() {
            env.push(("DOCKER_HOST".to_owned(), host));
        }
        let engine = match by {
            By::Socket | By::Podman => Engine::find(&env).await.unwrap(),
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

    /// Removes containers.
    pub(crate) async fn remove(&self, ids: &[String]) {
        let ids = ids.iter().map(String::as_str);
        self.docker(&["rm", "-f"].into_iter().chain(ids).collect::<Vec<_>>()).await;
    }

    /// The containers of this test.
    pub(crate) async fn containers(&self) -> Vec<String> {
        let filter = format!("label=hermes-profile={}", self.profile);
        let ids = self.docker(&["ps", "-aq", "--no-trunc", "--filter", &filter]).await;
        ids.lines().map(str::to_owned).collect()
    }
}

/// Makes tests of functions that take a world.
macro_rules! on {
    ($by:ident: $($name:ident),*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            if let Some(world) = $crate::world::World::new($crate::world::By::$by).await {
                super::$name(world).await;
            }
        })*
    };
}
pub(crate) use on;

/// Makes tests of functions that take a world: one for each way to Docker's engine.
macro_rules! on_docker {
    ($($name:ident),* $(,)?) => {
        mod socket { $crate::world::on!(Socket: $($name),*); }
        mod client { $crate::world::on!(Client: $($name),*); }
    };
}
pub(crate) use on_docker;

/// The same for Podman.
macro_rules! on_podman {
    ($($name:ident),* $(,)?) => {
        mod podman { $crate::world::on!(Podman: $($name),*); }
    };
}
pub(crate) use on_podman;

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
