//! What is kept of a yes, where, and for whom.

use hermes_approval::scanner::ScanAction;
use hermes_approval::{Allowlist, Answer, By};
use hermes_registry::Surface;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::sync::Arc;

use crate::{DANGEROUS, Person, Says, World, context, decide};

const KEY: &str = "recursive_delete:rm -rf node_modules";

#[tokio::test]
async fn a_yes_lasts_as_long_as_it_says() {
    for (answer, in_session, in_others) in [
        (Answer::Once, By::Person, By::Person),
        (Answer::Session, By::Remembered, By::Person),
        (Answer::Always, By::Remembered, By::Remembered),
    ] {
        let world = World::new(json!({}));
        let person = Person::new(answer);
        let gate = world.builder().prompter(person.clone()).build();
        assert_eq!(decide(&gate, DANGEROUS, &context(Surface::Cli, "a")).await.by, By::Person);
        let again = decide(&gate, "/bin/rm node_modules -rf", &context(Surface::Cli, "a")).await;
        assert_eq!(again.by, in_session);
        let gate = world.builder().prompter(person).build();
        let other = decide(&gate, DANGEROUS, &context(Surface::Cli, "b")).await;
        assert_eq!(other.by, in_others);
        assert_eq!(world.config().contains(KEY), in_others == By::Remembered);
        // One command was agreed to, and not all of its kind.
        assert_eq!(decide(&gate, "rm -rf src", &context(Surface::Cli, "a")).await.by, By::Person);
    }
}

#[tokio::test]
async fn what_another_process_adds_or_revokes_counts_at_once() {
    let world = World::new(json!({}));
    let gate = world.builder().prompter(Person::new(Answer::NO)).build();
    let list = Allowlist::of(&world.settings);
    let approved = async || decide(&gate, DANGEROUS, &context(Surface::Cli, "s")).await.approved;
    assert!(!approved().await);
    list.add(&["recursive delete".to_owned()]).unwrap();
    assert!(approved().await);
    list.remove(|entry| entry == "recursive delete").unwrap();
    assert!(!approved().await);
}

#[tokio::test]
async fn scanner_findings_are_kept_for_the_session_at_most() {
    let world = World::new(json!({}));
    let person = Person::new(Answer::Always);
    let gate = || {
        world.builder().scanner(Arc::new(Says(ScanAction::Warn))).prompter(person.clone()).build()
    };
    let one = gate();
    let decision = decide(&one, "ls", &context(Surface::Cli, "s")).await;
    assert_eq!(decision.pattern_key(), Some("tirith:homograph"));
    assert!(decision.description.unwrap().contains("[high] Odd letters: in a host"));
    assert!(!person.asked()[0].allow_permanent && person.asked()[0].covers.is_empty());
    assert_eq!(decide(&one, "ls", &context(Surface::Cli, "s")).await.by, By::Remembered);
    assert_eq!(world.config(), "");
    assert_eq!(decide(&gate(), "ls", &context(Surface::Cli, "s")).await.by, By::Person);
    // One question for both, and each is kept for as long as it may be.
    let both = decide(&gate(), DANGEROUS, &context(Surface::Cli, "s")).await;
    assert_eq!(both.pattern_keys, ["tirith:homograph", KEY]);
    assert!(world.config().contains(KEY) && !world.config().contains("tirith"));
}

#[tokio::test]
async fn a_list_that_cannot_be_written_holds_for_the_process() {
    let world = World::new(json!({}));
    std::fs::create_dir(world.home.path().join("config.yaml")).unwrap();
    let person = Person::new(Answer::Always);
    let gate = world.builder().prompter(person.clone()).build();
    assert!(decide(&gate, DANGEROUS, &context(Surface::Cli, "a")).await.approved);
    assert!(decide(&gate, DANGEROUS, &context(Surface::Cli, "b")).await.approved);
    assert_eq!(person.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_at_once_lose_nothing() {
    let world = World::new(json!({}));
    std::fs::write(world.home.path().join("config.yaml"), "# mine\nmodel: x\n").unwrap();
    let all: Vec<_> = (0..16)
        .map(|n| {
            let gate = world.builder().prompter(Person::new(Answer::Always)).build();
            hermes_task::spawn(async move {
                let command = format!("rm -rf build{n}");
                decide(&gate, &command, &context(Surface::Cli, "s")).await.approved
            })
        })
        .collect();
    for one in all {
        assert!(one.await.unwrap());
    }
    assert_eq!(Allowlist::of(&world.settings).read().unwrap().len(), 16);
    assert!(world.config().starts_with("# mine\nmodel: x\n"));
}
