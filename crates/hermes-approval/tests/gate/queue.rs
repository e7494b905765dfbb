//! Questions that wait: by session, by platform, by process.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hermes_approval::{
    Answer, Approvals, By, ChatOutcome, Decision, Mailbox, Outcome, Status, Which,
};
use hermes_registry::Surface;
use hermes_task::Tracked;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::{DANGEROUS, Platform, Silent, World, cancellable, context, decide, until};

fn asked(gate: &Arc<Approvals>, command: &str, session: &str) -> Tracked<Decision> {
    let (gate, command) = (Arc::clone(gate), command.to_owned());
    let cx = context(Surface::Gateway, session);
    hermes_task::spawn(async move { decide(&gate, &command, &cx).await })
}

#[tokio::test]
async fn sessions_have_queues_of_their_own_and_are_answered_in_order() {
    let world = World::new(json!({}));
    let gate = world.builder().build();
    let sessions = gate.sessions();
    let mut waiting = Vec::new();
    for session in ["a", "b"] {
        sessions.register(session, Platform::new(sessions, None));
        for n in 0..3 {
            waiting.push(asked(&gate, &format!("rm -rf {session}{n}"), session));
            until(|| sessions.waiting(session).len() == n + 1).await;
        }
    }
    let shown = |session: &str| -> Vec<String> {
        sessions.waiting(session).iter().map(|ask| ask.command.clone()).collect()
    };
    assert_eq!(shown("b"), ["rm -rf b0", "rm -rf b1", "rm -rf b2"]);
    let outcome = gate.chat("a", "/approve").await;
    assert_eq!(outcome, ChatOutcome::Answered { answer: Answer::Once, count: 1 });
    until(|| sessions.waiting("a").len() == 2).await;
    assert_eq!(shown("a"), ["rm -rf a1", "rm -rf a2"]);
    let no = Answer::Deny { reason: Some("enough".into()) };
    let outcome = gate.chat("a", "/deny all enough").await;
    assert_eq!(outcome, ChatOutcome::Answered { answer: no, count: 2 });
    let newest = sessions.waiting("b")[2].id.clone();
    assert_eq!(sessions.answer("b", Which::Id(&newest), &Answer::Session), 1);
    assert_eq!(sessions.answer("b", Which::Id(&newest), &Answer::Session), 0);
    until(|| sessions.waiting("b").len() == 2).await;
    sessions.clear("b");
    let mut decisions = Vec::new();
    for handle in waiting {
        decisions.push(handle.await.unwrap());
    }
    let approved: Vec<bool> = decisions.iter().map(|it| it.approved).collect();
    assert_eq!(approved, [true, false, false, false, false, true]);
    assert_eq!(decisions[1].deny_reason.as_deref(), Some("enough"));
    assert_eq!(gate.chat("a", "/approve").await, ChatOutcome::NothingWaits);
    assert_eq!(gate.chat("a", "yes").await, ChatOutcome::NotAnAnswer);
}

#[tokio::test]
async fn silence_is_a_no() {
    let world = World::new(json!({"approvals": {"timeout": 1}}));
    let gate = world.builder().prompter(Arc::new(Silent)).build();
    gate.sessions().register("s", Platform::new(gate.sessions(), None));
    for surface in [Surface::Gateway, Surface::Cli] {
        let decision = decide(&gate, DANGEROUS, &context(surface, "s")).await;
        assert_eq!((decision.approved, decision.outcome), (false, Some(Outcome::Timeout)));
        assert!(decision.message.unwrap().contains("Silence is not consent"));
    }
    assert!(gate.sessions().waiting("s").is_empty());
}

#[tokio::test]
async fn a_notice_that_fails_is_no_question() {
    let world = World::new(json!({}));
    let gate = world.builder().build();
    let platform = Platform::failing(gate.sessions());
    gate.sessions().register("s", platform.clone());
    let decision = decide(&gate, DANGEROUS, &context(Surface::Gateway, "s")).await;
    assert_eq!((decision.approved, decision.by), (false, By::Unreachable));
    assert!(decision.message.unwrap().contains("no network"));
    assert_eq!(platform.notices.load(Ordering::SeqCst), 1);
    assert!(gate.sessions().waiting("s").is_empty());
}

#[tokio::test]
async fn leaving_wakes_everybody() {
    let world = World::new(json!({}));
    let gate = world.builder().build();
    let sessions = gate.sessions();
    sessions.register("s", Platform::new(sessions, None));
    let first = asked(&gate, "rm -rf a", "s");
    let second = asked(&gate, "rm -rf b", "s");
    until(|| sessions.waiting("s").len() == 2).await;
    sessions.unregister("s");
    for handle in [first, second] {
        let decision = handle.await.unwrap();
        assert_eq!((decision.approved, decision.user_consent), (false, Some(false)));
    }
}

#[tokio::test]
async fn an_interrupt_takes_the_question_out_of_the_queue() {
    let world = World::new(json!({}));
    let gate = world.builder().build();
    let sessions = gate.sessions().clone();
    sessions.register("s", Platform::new(&sessions, None));
    let (cx, token) = cancellable(Surface::Gateway, "s");
    let first = {
        let gate = Arc::clone(&gate);
        hermes_task::spawn(async move { decide(&gate, "rm -rf a", &cx).await })
    };
    until(|| sessions.waiting("s").len() == 1).await;
    let second = asked(&gate, "rm -rf b", "s");
    until(|| sessions.waiting("s").len() == 2).await;
    token.cancel();
    assert_eq!(first.await.unwrap().by, By::Interrupt);
    until(|| sessions.waiting("s").len() == 1).await;
    assert_eq!(sessions.answer("s", Which::Oldest, &Answer::Once), 1);
    assert!(second.await.unwrap().approved);
}

#[tokio::test]
async fn what_nobody_heard_waits_for_the_platform() {
    let world = World::new(json!({}));
    let gate = world.builder().build();
    let cx = context(Surface::Gateway, "s");
    let decision = decide(&gate, DANGEROUS, &cx).await;
    assert_eq!(decision.status, Some(Status::PendingApproval));
    let result = decision.result().unwrap();
    assert_eq!((&result["approval_pending"], &result["error"]), (&json!(true), &json!("")));
    assert_eq!(gate.sessions().pending("s").unwrap().command, DANGEROUS);
    // A yes for once lets the same command through, once.
    assert!(matches!(gate.chat("s", "yes").await, ChatOutcome::Settled { .. }));
    assert_eq!(gate.sessions().pending("s"), None);
    assert!(!decide(&gate, "rm -rf other", &cx).await.approved);
    assert!(decide(&gate, DANGEROUS, &cx).await.approved);
    assert!(!decide(&gate, DANGEROUS, &cx).await.approved);
    gate.chat("s", "/deny").await;
    assert!(!decide(&gate, DANGEROUS, &cx).await.approved);
    gate.chat("s", "/approve session").await;
    assert_eq!(decide(&gate, DANGEROUS, &cx).await.by, By::Remembered);
}

#[tokio::test]
async fn another_process_can_answer() {
    let world = World::with_env(json!({}), &[("HERMES_EXEC_ASK", "1")]);
    let mailbox = Mailbox::of(world.home.path());
    for (surface, answer) in [
        (Surface::None, Answer::Once),
        (Surface::Cli, Answer::NO),
        (Surface::Gateway, Answer::Session),
    ] {
        let gate = world.builder().prompter(Arc::new(Silent)).build();
        gate.sessions().register("s", Platform::new(gate.sessions(), None));
        let cx = context(surface, "s");
        let waiting = hermes_task::spawn(async move { decide(&gate, DANGEROUS, &cx).await });
        until(|| !mailbox.waiting().unwrap().is_empty()).await;
        let posted = mailbox.waiting().unwrap().remove(0);
        assert_eq!(posted.ask.command, DANGEROUS);
        assert!(mailbox.answer(&posted.ask.id, &answer).unwrap());
        assert_eq!(waiting.await.unwrap().approved, answer.is_yes());
        assert!(mailbox.waiting().unwrap().is_empty());
    }
}

#[tokio::test]
async fn prompts_come_one_after_the_other_and_settle_what_follows() {
    /// Somebody who lets others wait.
    struct Slow(std::sync::Mutex<usize>);
    impl hermes_approval::Prompter for Slow {
        fn prompt<'a>(&'a self, _: &'a hermes_approval::Ask) -> hermes_approval::AskFuture<'a> {
            Box::pin(async {
                *self.0.lock().unwrap() += 1;
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                assert_eq!(*self.0.lock().unwrap(), 1, "two prompts at once, or one too many");
                Ok(Answer::Session)
            })
        }
    }
    let world = World::new(json!({}));
    let slow = Arc::new(Slow(std::sync::Mutex::default()));
    let gate = world.builder().prompter(slow.clone()).build();
    let all: Vec<_> = (0..3)
        .map(|_| {
            let gate = Arc::clone(&gate);
            hermes_task::spawn(async move {
                decide(&gate, DANGEROUS, &context(Surface::Cli, "s")).await.approved
            })
        })
        .collect();
    for one in all {
        assert!(one.await.unwrap());
    }
    assert_eq!(*slow.0.lock().unwrap(), 1);
}
