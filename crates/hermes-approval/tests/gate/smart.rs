//! A model that looks first.

use std::sync::{Arc, Mutex};

use hermes_approval::{Answer, By, ReviewRequest, Reviewer, ReviewerFuture, Status};
use hermes_hooks::{HookEvent, Hooks, Reply, on};
use hermes_registry::Surface;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::{DANGEROUS, Person, Platform, World, context, decide};

struct Model(Result<&'static str, &'static str>, Mutex<Vec<ReviewRequest>>);

impl Reviewer for Model {
    fn review<'a>(&'a self, request: &'a ReviewRequest) -> ReviewerFuture<'a> {
        self.1.lock().unwrap().push(request.clone());
        let answer = self.0.map(str::to_owned).map_err(str::to_owned);
        Box::pin(async { answer })
    }
}

fn model(answer: Result<&'static str, &'static str>) -> Arc<Model> {
    Arc::new(Model(answer, Mutex::default()))
}

fn world() -> World {
    World::new(json!({"approvals": {"mode": "smart"}}))
}

#[tokio::test]
async fn a_model_may_agree_and_nothing_is_kept() {
    let world = world();
    let person = Person::new(Answer::NO);
    let model = model(Ok("APPROVE"));
    let gate = world.builder().prompter(person.clone()).reviewer(model.clone()).build();
    let cx = context(Surface::Cli, "s");
    for _ in 0..2 {
        let decision = decide(&gate, DANGEROUS, &cx).await;
        assert!(decision.smart_approved && decision.note().is_some());
    }
    assert_eq!((person.asked().len(), model.1.lock().unwrap().len()), (0, 2));
    assert!(decide(&gate, "ls", &cx).await.approved);
    assert_eq!(model.1.lock().unwrap().len(), 2);
    assert_eq!(world.log()[0]["verdict"], "smart_approve");
    assert_eq!(world.log()[1]["decided_by"], "model");
}

#[tokio::test]
async fn a_person_overrules_a_refusal_for_once_only() {
    for answer in [Answer::Once, Answer::Session, Answer::Always] {
        let world = world();
        let person = Person::new(answer);
        let gate = world.builder().prompter(person.clone()).reviewer(model(Ok("DENY"))).build();
        for n in 1..3 {
            let decision = decide(&gate, DANGEROUS, &context(Surface::Cli, "s")).await;
            assert!(decision.approved && decision.user_approved && decision.smart_denied);
            assert_eq!(person.asked().len(), n);
        }
        let ask = &person.asked()[0];
        assert!(ask.smart_denied && !ask.allow_permanent);
        assert_eq!(world.config(), "");
    }
    let world = world();
    let gate = world.builder().reviewer(model(Ok("DENY"))).build();
    let decision = decide(&gate, DANGEROUS, &context(Surface::Gateway, "s")).await;
    assert_eq!((decision.status, decision.smart_denied), (Some(Status::PendingApproval), true));
    gate.take_terminal(true);
    let decision = decide(&gate, DANGEROUS, &context(Surface::Cli, "s")).await;
    assert_eq!((decision.approved, decision.smart_denied), (false, true));
}

#[tokio::test]
async fn whatever_else_is_said_leaves_it_to_the_person() {
    for answer in [Ok("ESCALATE"), Ok(""), Ok("APPROVE!"), Ok("approved"), Err("no model")] {
        let world = world();
        let person = Person::new(Answer::Once);
        let gate = world.builder().prompter(person.clone()).reviewer(model(answer)).build();
        let decision = decide(&gate, DANGEROUS, &context(Surface::Cli, "s")).await;
        assert_eq!((decision.by, decision.smart_approved), (By::Person, false), "{answer:?}");
        assert!(person.asked()[0].allow_permanent);
    }
}

#[tokio::test]
async fn hooks_are_told_and_change_nothing() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let record = |event: HookEvent| {
        let told = Arc::clone(&told);
        on(event, event.as_str(), move |event| {
            let told = Arc::clone(&told);
            async move {
                let text = |key: &str| event.text(key).unwrap_or("-").to_owned();
                assert_eq!((text("turn_id"), text("tool_call_id")), ("turn".into(), "call".into()));
                assert_eq!(text("pattern_key"), "recursive_delete:rm -rf node_modules");
                let line = format!("{} {} {}", event.kind(), text("surface"), text("choice"));
                told.lock().unwrap().push(line);
                if event.kind() == HookEvent::PostApprovalResponse {
                    panic!("a hook that fails");
                }
                Reply::block("no")
            }
        })
    };
    let hooks = Hooks::none()
        .with(record(HookEvent::PreApprovalRequest))
        .with(record(HookEvent::PostApprovalResponse));
    let world = world();
    let gate = world
        .builder()
        .hooks(hooks)
        .prompter(Person::new(Answer::Once))
        .reviewer(model(Ok("DENY")))
        .build();
    gate.sessions().register("s", Platform::new(gate.sessions(), Some(Answer::NO)));
    assert!(decide(&gate, DANGEROUS, &context(Surface::Cli, "s")).await.approved);
    assert!(!decide(&gate, DANGEROUS, &context(Surface::Gateway, "s")).await.approved);
    let smart = ["pre_approval_request smart -", "post_approval_response smart deny"];
    let cli = ["pre_approval_request cli -", "post_approval_response cli once"];
    let gateway = ["pre_approval_request gateway -", "post_approval_response gateway deny"];
    assert_eq!(*told.lock().unwrap(), [smart, cli, smart, gateway].concat());
}
