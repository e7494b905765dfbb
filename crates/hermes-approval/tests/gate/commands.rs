//! The steps of the pipeline.

use std::sync::Arc;

use hermes_approval::{
    Answer, Approvals, By, CommandGate, CommandRequest, Forced, Outcome, Place, ScriptRequest,
    Status, SubAgent,
};
use hermes_registry::{Services, Surface};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::{DANGEROUS, Person, Silent, World, context, decide};

#[tokio::test]
async fn safe_commands_are_nobodys_business() {
    let world = World::new(json!({}));
    let person = Person::new(Answer::NO);
    let gate = world.builder().prompter(person.clone()).build();
    for surface in [Surface::Cli, Surface::Gateway, Surface::Cron, Surface::None] {
        let decision = decide(&gate, "ls -la", &context(surface, "s")).await;
        assert_eq!((decision.approved, decision.by), (true, By::Nothing));
        assert_eq!(decision.note(), None);
    }
    assert!(person.asked().is_empty() && world.log().is_empty());
}

#[tokio::test]
async fn what_is_never_run_is_refused_everywhere_but_in_isolation() {
    let world =
        World::with_env(json!({"approvals": {"mode": "off"}}), &[("HERMES_YOLO_MODE", "1")]);
    let gate = world.builder().prompter(Person::new(Answer::Always)).build();
    gate.sessions().set_yolo("s", true);
    for surface in [Surface::Cli, Surface::Gateway, Surface::Cron, Surface::None] {
        let cx = context(surface, "s");
        let forced = cx.clone().with_services(Services::new().with(Arc::new(Forced)));
        let request = CommandRequest::new("terminal", "rm -rf /");
        for decision in [decide(&gate, "rm -rf /", &cx).await, gate.decide(&request, &forced).await]
        {
            assert!(!decision.approved && decision.hardline, "{decision:?}");
            assert_eq!(decision.result().unwrap()["status"], "blocked");
        }
        let isolated = request.at(Place::new("docker"));
        assert!(gate.decide(&isolated, &cx).await.approved);
        let bound = isolated.at(Place::new("docker").with_host_access(true));
        assert!(!gate.decide(&bound, &cx).await.approved);
    }
    assert!(world.log().iter().all(|entry| entry["decided_by"] == "hardline"), "{:?}", world.log());
}

#[tokio::test]
async fn force_and_yolo_skip_the_question_but_no_rule() {
    let config = json!({"approvals": {"deny": ["rm * secret"]}});
    let world = World::new(config.clone());
    let person = Person::new(Answer::NO);
    let gate = world.builder().prompter(person.clone()).build();
    let cx = context(Surface::Cli, "s");
    let forced = cx.clone().with_services(Services::new().with(Arc::new(Forced)));
    let by = async |gate: &Arc<Approvals>, command: &str, cx: &hermes_registry::ToolContext| {
        gate.decide(&CommandRequest::new("t", command), cx).await.by
    };
    assert_eq!(by(&gate, DANGEROUS, &cx).await, By::Person);
    assert_eq!(by(&gate, DANGEROUS, &forced).await, By::Force);
    assert_eq!(by(&gate, "rm -rf secret", &forced).await, By::DenyRule);
    gate.sessions().set_yolo("", true);
    gate.sessions().set_yolo("other", true);
    assert_eq!(by(&gate, DANGEROUS, &context(Surface::Cli, "")).await, By::Person);
    assert_eq!(by(&gate, DANGEROUS, &cx).await, By::Person);
    assert!(gate.sessions().toggle_yolo("s"));
    assert_eq!(by(&gate, DANGEROUS, &cx).await, By::Yolo);
    assert_eq!(by(&gate, "rm -rf secret", &cx).await, By::DenyRule);
    gate.sessions().clear("s");
    assert_eq!(by(&gate, DANGEROUS, &cx).await, By::Person);
    // The environment of the process counts as it was at its start.
    let world = World::with_env(config, &[("HERMES_YOLO_MODE", "yes")]);
    assert_eq!(by(&world.builder().build(), DANGEROUS, &cx).await, By::Yolo);
}

#[tokio::test]
async fn passwords_are_not_guessed() {
    let off = json!({"approvals": {"mode": "off"}});
    let cx = context(Surface::Cli, "s");
    let world = World::new(off.clone());
    let decision = decide(&world.builder().build(), "sudo -S id", &cx).await;
    assert_eq!((decision.approved, decision.by), (false, By::PasswordGuess));
    let world = World::with_env(off, &[("SUDO_PASSWORD", "x")]);
    assert!(decide(&world.builder().build(), "sudo -S id", &cx).await.approved);
}

#[tokio::test]
async fn answers_become_decisions() {
    let world = World::new(json!({}));
    let cx = context(Surface::Cli, "s");
    for (answer, approved, outcome) in [
        (Answer::Once, true, None),
        (Answer::NO, false, Some(Outcome::Denied)),
        (Answer::Timeout, false, Some(Outcome::Timeout)),
    ] {
        let gate = world.builder().prompter(Person::new(answer)).build();
        let decision = decide(&gate, DANGEROUS, &cx).await;
        assert_eq!((decision.approved, decision.outcome), (approved, outcome));
        assert_eq!(decision.user_approved, approved);
        assert_eq!(decision.user_consent, (!approved).then_some(false));
        assert_eq!(decision.note().is_some(), approved);
        assert_eq!(decision.pattern_key(), Some("recursive_delete:rm -rf node_modules"));
    }
    let no = Answer::Deny { reason: Some(format!("not now {}", "x".repeat(400))) };
    let decision = decide(&world.builder().prompter(Person::new(no)).build(), DANGEROUS, &cx).await;
    assert_eq!(decision.deny_reason.as_ref().unwrap().chars().count(), 280);
    assert!(decision.message.unwrap().contains("\"not now x"));
    let decision =
        decide(&world.builder().prompter(Person::broken()).build(), DANGEROUS, &cx).await;
    assert_eq!((decision.approved, decision.outcome), (false, Some(Outcome::Denied)));
    let verdicts: Vec<_> = world.log().into_iter().map(|it| it["verdict"].clone()).collect();
    assert_eq!(verdicts, ["approved", "denied", "denied", "denied", "denied"]);
}

#[tokio::test]
async fn a_question_shows_what_matters_and_no_secret() {
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let world = World::new(json!({"approvals": {"timeout": 7}}));
    let person = Person::new(Answer::NO);
    let gate = world.builder().prompter(person.clone()).build();
    let command = format!("export T={token}; rm -rf build");
    let decision = decide(&gate, &command, &context(Surface::Cli, "s")).await;
    let ask = &person.asked()[0];
    assert_eq!(ask.command.get(ask.reasons[0].span.clone()), Some("rm -rf build"));
    assert_eq!(ask.covers, ["recursive_delete:rm -rf build"]);
    assert_eq!((ask.timeout.as_secs(), ask.allow_permanent), (7, true));
    let all = format!("{ask:?} {decision:?} {:?}", world.log());
    assert!(!all.contains(token), "{all}");
}

#[tokio::test]
async fn without_a_person_it_fails_closed() {
    let approved = async |config, surface| {
        let world = World::new(config);
        let decision = decide(&world.builder().build(), DANGEROUS, &context(surface, "s")).await;
        if !decision.approved {
            let message = decision.message.unwrap();
            let setting = match surface {
                Surface::Cron => "approvals.cron_mode: approve",
                _ => "approvals.noninteractive: approve",
            };
            assert!(message.contains(setting), "{message}");
        }
        decision.approved
    };
    let with = |key: &str, value: &str| json!({"approvals": {key: value}});
    assert!(!approved(json!({}), Surface::Cron).await);
    assert!(!approved(json!({}), Surface::None).await);
    assert!(!approved(json!({}), Surface::Cli).await);
    assert!(!approved(with("noninteractive", "approve"), Surface::Cron).await);
    assert!(!approved(with("cron_mode", "approve"), Surface::None).await);
    assert!(approved(with("cron_mode", "Approve"), Surface::Cron).await);
    assert!(approved(with("noninteractive", "approve"), Surface::None).await);
    assert!(approved(json!({"command_allowlist": ["rm -rf node_modules"]}), Surface::Cron).await);
}

#[tokio::test]
async fn a_terminal_that_is_taken_is_not_read() {
    let world = World::new(json!({}));
    let person = Person::new(Answer::Once);
    let gate = world.builder().prompter(person.clone()).build();
    gate.take_terminal(true);
    let cx = context(Surface::Cli, "s");
    assert!(!decide(&gate, DANGEROUS, &cx).await.approved);
    assert!(person.asked().is_empty());
    // A dialog of the session needs no terminal.
    let dialog =
        hermes_approval::Callback(|command: &str, _: &str, permanent: bool, denied: bool| {
            assert_eq!((command, permanent, denied), (DANGEROUS, true, false));
            Ok::<_, String>("session".to_owned())
        });
    gate.sessions().set_prompter("s", Some(Arc::new(dialog)));
    assert!(decide(&gate, DANGEROUS, &cx).await.approved);
    gate.sessions().set_prompter("s", None);
    assert_eq!(decide(&gate, DANGEROUS, &cx).await.by, By::Remembered);
    gate.take_terminal(false);
    assert!(decide(&gate, "rm -rf other", &cx).await.approved);
}

#[tokio::test]
async fn sub_agents_ask_nobody() {
    let sub_agent = |cx: hermes_registry::ToolContext| {
        cx.with_services(Services::new().with(Arc::new(SubAgent)))
    };
    for (config, approved) in
        [(json!({}), false), (json!({"delegation": {"subagent_auto_approve": true}}), true)]
    {
        let world = World::new(config);
        let gate = world.builder().prompter(Arc::new(Silent)).build();
        let cx = sub_agent(context(Surface::Cli, "s"));
        let decision = gate.decide(&CommandRequest::new("t", DANGEROUS), &cx).await;
        assert_eq!((decision.approved, decision.by), (approved, By::SubAgent));
        assert_eq!(world.log()[0]["decided_by"], "subagent");
    }
}

#[tokio::test]
async fn an_interrupt_ends_the_question() {
    let world = World::new(json!({}));
    let gate = world.builder().prompter(Arc::new(Silent)).build();
    let (cx, token) = crate::cancellable(Surface::Cli, "s");
    let asked = hermes_task::spawn(async move { decide(&gate, DANGEROUS, &cx).await });
    let mailbox = hermes_approval::Mailbox::of(world.home.path());
    crate::until(|| !mailbox.waiting().unwrap().is_empty()).await;
    token.cancel();
    let decision = asked.await.unwrap();
    assert_eq!((decision.approved, decision.outcome), (false, Some(Outcome::Interrupted)));
    assert!(mailbox.waiting().unwrap().is_empty());
}

#[tokio::test]
async fn a_gateway_does_not_end_itself() {
    let world = World::with_env(json!({"approvals": {"mode": "off"}}), &[("_HERMES_GATEWAY", "1")]);
    let gate = world.builder().build();
    let cx = context(Surface::Gateway, "s");
    let decision = decide(&gate, "hermes gateway restart", &cx).await;
    assert_eq!((decision.approved, decision.status), (false, Some(Status::Error)));
    let result = decision.result().unwrap();
    assert_eq!((&result["exit_code"], &result["status"]), (&json!(1), &json!("error")));
    assert!(decide(&gate, "hermes gateway status", &cx).await.approved);
}

#[tokio::test]
async fn an_agent_does_not_answer_for_its_user() {
    let world = World::new(json!({}));
    let gate = world.builder().build();
    let cx = context(Surface::None, "s");
    for command in
        ["hermes approval answer 0123456789ab once", "echo x > ~/.hermes/approvals/queue/a"]
    {
        assert!(!decide(&gate, command, &cx).await.approved, "{command}");
    }
    assert!(decide(&gate, "hermes approval list", &cx).await.approved);
}

#[tokio::test]
async fn scripts_are_asked_about_as_a_whole_by_chat_only() {
    let script = ScriptRequest {
        tool: "execute_code".into(),
        interpreter: "python3".into(),
        code: "print(1)".into(),
        place: Place::default(),
    };
    let world = World::new(json!({}));
    let person = Person::new(Answer::Session);
    let gate = world.builder().prompter(person.clone()).build();
    assert!(gate.decide_script(&script, &context(Surface::Cli, "s")).await.approved);
    assert!(gate.decide_script(&script, &context(Surface::None, "s")).await.approved);
    assert!(!gate.decide_script(&script, &context(Surface::Cron, "s")).await.approved);
    let decision = gate.decide_script(&script, &context(Surface::Gateway, "s")).await;
    assert_eq!(decision.status, Some(Status::PendingApproval));
    assert_eq!(decision.pattern_key(), Some("execute_code"));
    assert!(decision.command.unwrap().starts_with("python3 - <<'END'\nprint(1)\n"));
    let platform = crate::Platform::new(gate.sessions(), Some(Answer::Session));
    gate.sessions().register("s", platform);
    for by in [By::Person, By::Remembered] {
        assert_eq!(gate.decide_script(&script, &context(Surface::Gateway, "s")).await.by, by);
    }
    let isolated = ScriptRequest { place: Place::new("vercel_sandbox"), ..script };
    assert!(gate.decide_script(&isolated, &context(Surface::Cron, "s")).await.approved);
}
