//! A command in a container that is there: ours beside the client's `docker exec`, in turns, with
//! medians. It needs the engine that tests use.

use std::time::{Duration, Instant};

use hermes_exec::environment::{Close, Environment as _, Exit, Start};
use hermes_exec::program::{Ended, Program};
use hermes_exec_docker::{DockerEnvironment, Engine, Options};
use tokio::io::AsyncReadExt as _;

const ROUNDS: usize = 40;

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a bench is its own host")]
    std::env::var(name).ok()
}

fn main() {
    let names = ["HERMES_TEST_DOCKER_HOST", "HERMES_TEST_DOCKER", "HERMES_TEST_DOCKER_IMAGE"];
    let [Some(host), Some(client), Some(image)] = names.map(variable) else {
        report(&format!("skipped: {} are not set", names.join(", ")));
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| fail(&error));
    runtime.block_on(measure(&host, &client, &image));
}

async fn measure(host: &str, client: &str, image: &str) {
    let env = [("DOCKER_HOST", host), ("HERMES_DOCKER_BINARY", client), ("PATH", "/usr/bin:/bin")];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let engine = Engine::find(&env).await.unwrap_or_else(|error| fail(&error));
    let by_client = Engine::find_client(&env).await.unwrap_or_else(|error| fail(&error));
    let options = Options {
        image: image.to_owned(),
        profile: "bench".to_owned(),
        network: false,
        persist_across_processes: true,
        ..Options::default()
    };
    let ours = engine.open(options.clone()).await.unwrap_or_else(|error| fail(&error));
    let ours_by_client = by_client.open(options).await.unwrap_or_else(|error| fail(&error));
    let id = ours.container_id();
    let plain = Program::new([client, "exec", id, "bash", "-c", "true"]).env(env.to_vec());
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let [docker, socket, cli] = &mut times;
        let started = Instant::now();
        let ended = plain.clone().run().await.map(|finished| finished.ended);
        docker.push(started.elapsed());
        if !matches!(ended, Ok(Ended::Exited(0))) {
            fail(&"docker exec failed");
        }
        socket.push(run(&ours).await);
        cli.push(run(&ours_by_client).await);
    }
    let [docker, socket, cli] = times.map(median);
    let ratio = |time: Duration| time.as_secs_f64() / docker.as_secs_f64();
    report(&format!("docker exec bash -c true: {docker:.1?}"));
    report(&format!("by the socket: {socket:.1?}, {:.2} times", ratio(socket)));
    report(&format!("by the client: {cli:.1?}, {:.2} times", ratio(cli)));
    ours.close(Close::Remove).await;
}

async fn run(environment: &DockerEnvironment) -> Duration {
    let started = Instant::now();
    let mut running =
        environment.start(Start::new("true")).await.unwrap_or_else(|error| fail(&error));
    let mut output = Vec::new();
    let read = running.output.read_to_end(&mut output).await;
    let exit = running.handle.wait().await;
    running.handle.release();
    if read.is_err() || exit != Exit::Code(0) {
        fail(&format!("{exit:?}"));
    }
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::print_stderr, reason = "a bench reports")]
fn report(line: &str) {
    eprintln!("{line}");
}

fn fail(error: &dyn std::fmt::Display) -> ! {
    report(&format!("the bench can't be run: {error}"));
    std::process::exit(1)
}
