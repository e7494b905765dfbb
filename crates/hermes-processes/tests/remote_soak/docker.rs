//! Very many commands of a container at once.

use std::sync::Arc;

use hermes_exec::environment::{Close, Environment as _};
use hermes_exec::program::Program;
use hermes_exec_docker::{Engine, Options};

use crate::soak::{Cut, Plan, soak};

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a test is its own host")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// With `cut_after` the container is removed after so many commands.
fn run(plan: Plan, cut_after: Option<u64>) {
    let names = ["HERMES_TEST_DOCKER_HOST", "HERMES_TEST_DOCKER", "HERMES_TEST_DOCKER_IMAGE"];
    let [Some(host), Some(client), Some(image)] = names.map(variable) else {
        println!("skipped: {} are not set, so there is no engine", names.join(", "));
        return;
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let home = tempfile::tempdir().unwrap();
    let env = [("DOCKER_HOST", &*host), ("HERMES_DOCKER_BINARY", &client), ("PATH", "/usr/bin")];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let table = runtime.block_on(async {
        let engine = Engine::find(&env).await.unwrap();
        assert!(engine.has_socket());
        let options = Options {
            image,
            profile: format!("soak-{}", std::process::id()),
            network: false,
            persist_across_processes: true,
            ..Options::default()
        };
        let container = Arc::new(engine.open(options).await.unwrap());
        let remove =
            Program::new([&*client, "rm", "-f", container.container_id()]).env(env.clone());
        let how = Box::pin(async move { drop(remove.run().await.unwrap()) });
        let cut = cut_after.map(|after| Cut { after, how });
        let home = home.path().to_owned();
        let table = soak(Arc::clone(&container) as Arc<_>, home, plan, cut).await;
        container.close(Close::Remove).await;
        table
    });
    println!("{table}");
}

#[test]
fn a_short_one() {
    run(Plan { seed: 2, commands: 50, at_once: 15, terminals: true }, None);
}

#[test]
fn a_container_that_goes() {
    let plan = Plan { seed: 3, commands: 45, at_once: 15, terminals: true };
    run(plan, Some(25));
}

#[test]
#[ignore = "takes minutes"]
fn the_whole_of_it() {
    run(Plan { seed: 0xd0c, commands: 1000, at_once: 50, terminals: true }, None);
}

#[test]
#[ignore = "takes minutes"]
fn many_in_a_container_that_goes() {
    let plan = Plan { seed: 0xdead, commands: 1000, at_once: 50, terminals: true };
    run(plan, Some(500));
}
