//! Questions that are about no command.

use std::sync::Arc;

use hermes_approval::{
    Answer, Approver, Elicitation, Origin, ProposedWrite, Prospect, Question, Staging, Subsystem,
    WriteGate, WriteVerdict,
};
use hermes_registry::Surface;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::{Person, Platform, Silent, World, context};

fn question() -> Question {
    Question::new("deploy", "plugin_rule:deploy", "{}", "it deploys")
}

#[tokio::test]
async fn permissions_are_remembered_like_those_of_commands() {
    let world = World::new(json!({}));
    let person = Person::new(Answer::Always);
    let gate = world.builder().prompter(person.clone()).build();
    let cx = context(Surface::Cli, "s");
    for _ in 0..2 {
        assert_eq!(gate.ask(&question(), &cx).await, Ok(Answer::Always));
    }
    assert_eq!(person.asked().len(), 1);
    assert!(world.config().contains("plugin_rule:deploy"));
    let other = Question::new("deploy", "plugin_rule:other", "{}", "x").not_permanent();
    gate.ask(&other, &cx).await.unwrap();
    assert!(!world.config().contains("plugin_rule:other"));
    assert_eq!(world.log().len(), 3);
}

#[tokio::test]
async fn without_a_person_permission_is_refused() {
    let world = World::new(json!({}));
    let gate = world.builder().build();
    for surface in [Surface::Cli, Surface::Gateway, Surface::Cron, Surface::None] {
        let cx = context(surface, "s");
        assert_eq!(gate.prospect(&question(), &cx), Prospect::Nobody, "{surface:?}");
        assert!(gate.ask(&question(), &cx).await.is_err(), "{surface:?}");
    }
    let world = World::new(json!({"approvals": {"cron_mode": "approve"}}));
    let cx = context(Surface::Cron, "s");
    assert_eq!(world.builder().build().ask(&question(), &cx).await, Ok(Answer::Once));
}

#[tokio::test]
async fn servers_get_one_of_three_words() {
    let world = World::new(json!({"approvals": {"timeout": 1}}));
    let elicit = async |answer: Option<Answer>, surface: Surface| {
        let gate = match answer.clone() {
            Some(answer) => world.builder().prompter(Person::new(answer)).build(),
            None => world.builder().prompter(Arc::new(Silent)).build(),
        };
        gate.sessions().register("s", Platform::new(gate.sessions(), answer));
        gate.elicit(&question(), &context(surface, "s")).await
    };
    for surface in [Surface::Cli, Surface::Gateway] {
        for yes in [Answer::Once, Answer::Session, Answer::Always] {
            assert_eq!(elicit(Some(yes), surface).await, Elicitation::Accept);
        }
        assert_eq!(elicit(Some(Answer::NO), surface).await, Elicitation::Decline);
    }
    assert_eq!(elicit(None, Surface::Gateway).await, Elicitation::Cancel);
    assert_eq!(elicit(None, Surface::Cli).await, Elicitation::Decline);
    assert_eq!(elicit(Some(Answer::Once), Surface::Cron).await, Elicitation::Decline);
    assert_eq!(world.config(), "");
}

#[tokio::test]
async fn writes_are_made_refused_or_kept() {
    let write = |subsystem, origin| ProposedWrite {
        subsystem,
        action: "add".into(),
        summary: "likes tea".into(),
        origin,
        payload: json!({}),
    };
    let on = json!({"memory": {"write_approval": true}, "skills": {"write_approval": true}});
    let review =
        async |config: &serde_json::Value, answer: Result<Answer, ()>, write: &ProposedWrite| {
            let world = World::new(config.clone());
            let person = answer.map_or_else(|()| Person::broken(), Person::new);
            let gate = world.builder().prompter(person.clone()).build();
            let verdict = gate.review(write, &context(Surface::Cli, "s")).await;
            let kept = Staging::of(world.home.path()).list(write.subsystem).len();
            (verdict, person.asked().len(), kept)
        };
    let memory = write(Subsystem::Memory, Origin::Foreground);
    let (verdict, asked, _) = review(&json!({}), Ok(Answer::NO), &memory).await;
    assert_eq!((verdict, asked), (WriteVerdict::Allowed, 0));
    let (verdict, asked, _) = review(&on, Ok(Answer::Session), &memory).await;
    assert_eq!((verdict, asked), (WriteVerdict::Allowed, 1));
    let (verdict, _, kept) = review(&on, Ok(Answer::NO), &memory).await;
    assert!(matches!(verdict, WriteVerdict::Refused(_)) && kept == 0);
    for answer in [Err(()), Ok(Answer::Timeout)] {
        let (verdict, asked, kept) = review(&on, answer, &memory).await;
        assert!(matches!(verdict, WriteVerdict::Staged(_)) && (asked, kept) == (1, 1));
    }
    for other in [
        write(Subsystem::Memory, Origin::BackgroundReview),
        write(Subsystem::Skills, Origin::Foreground),
    ] {
        let (verdict, asked, kept) = review(&on, Ok(Answer::Once), &other).await;
        assert!(matches!(verdict, WriteVerdict::Staged(_)) && (asked, kept) == (0, 1));
    }
}
