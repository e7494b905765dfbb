//! The way of a command through the gate.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hermes_command::{Ctx, classify};
use hermes_hooks::HookEvent;
use hermes_registry::{Surface, ToolContext};

use crate::approver::Answer;
use crate::asking::{Reply, Way};
use crate::audit::{self, Record};
use crate::case::{
    Case, Flag, MAX_DESCRIPTION, What, as_here_document, describe, new_id, script_flag,
};
use crate::decision::{By, Decision, Outcome, Status};
use crate::foreseeing::ForeseenFuture;
use crate::gate::{Approvals, CommandGate, CommandRequest, DecisionFuture, ScriptRequest};
use crate::gateway_control::controls_gateway;
use crate::keys::sha256;
use crate::policy::{Mode, Policy};
use crate::question::{Ask, Reason};
use crate::refusal;
use crate::ruling::{Facts, Reach, Ruling, rule, self_approval};
use crate::scanner::{ScanAction, ScanVerdict};
use crate::shown::{Shown, line};
use crate::smart::{self, SmartVerdict};
use crate::surface::{Forced, SubAgent};

/// Variables of the host that the classifier may know.
const KNOWN_VARIABLES: [&str; 5] = ["SHELL", "USER", "LOGNAME", "TMPDIR", "LANG"];

impl CommandGate for Approvals {
    fn decide<'a>(
        &'a self,
        request: &'a CommandRequest,
        cx: &'a ToolContext,
    ) -> DecisionFuture<'a> {
        Box::pin(self.decide_command(request, cx))
    }

    fn decide_script<'a>(
        &'a self,
        request: &'a ScriptRequest,
        cx: &'a ToolContext,
    ) -> DecisionFuture<'a> {
        Box::pin(self.decide_code(request, cx))
    }

    fn foresee<'a>(
        &'a self,
        request: &'a CommandRequest,
        cx: &'a ToolContext,
    ) -> ForeseenFuture<'a> {
        Box::pin(async { Some(self.foresee_command(request, cx).await) })
    }
}

/// What there is to see of a command.
pub(crate) enum Look<'c> {
    /// It is to be decided about.
    Open(Case<'c>),
    /// It can do no harm where it runs.
    Isolated,
    /// It can't be run in this process.
    Refused(Case<'c>, Decision),
}

impl Approvals {
    async fn decide_command(&self, request: &CommandRequest, cx: &ToolContext) -> Decision {
        match self.look(request, cx) {
            Look::Open(case) => self.run(&case, cx).await,
            Look::Isolated => Decision::approved(By::Isolation),
            Look::Refused(case, decision) => self.settle(&case, &[], decision, cx),
        }
    }

    /// What is there to see of a command.
    pub(crate) fn look<'c>(&self, request: &'c CommandRequest, cx: &ToolContext) -> Look<'c> {
        let command = request.command.as_str();
        let in_gateway =
            self.settings.env_filled("_HERMES_GATEWAY").is_some_and(|it| it.trim() == "1");
        if request.place.is_isolated() && !in_gateway {
            return Look::Isolated;
        }
        let mut report = classify(command, &self.place_of(request, cx.cwd()));
        let case = |report| Case {
            tool: &request.tool,
            text: command,
            display: command,
            report,
            what: What::Command,
        };
        if in_gateway && controls_gateway(&report) {
            let mut decision = Decision::refused(By::GatewayControl, refusal::gateway_control());
            decision.status = Some(Status::Error);
            return Look::Refused(case(report), decision);
        }
        if request.place.is_isolated() {
            return Look::Isolated;
        }
        report.findings.extend(self_approval(command));
        Look::Open(case(report))
    }

    async fn decide_code(&self, request: &ScriptRequest, cx: &ToolContext) -> Decision {
        if request.place.is_isolated() {
            return Decision::approved(By::Isolation);
        }
        let shell = as_here_document(&request.interpreter, &request.code);
        let place = CommandRequest::new(&*request.tool, "").at(request.place.clone());
        let report = classify(&shell, &self.place_of(&place, cx.cwd()));
        let case = Case {
            tool: &request.tool,
            text: &request.code,
            display: &shell,
            report,
            what: What::Script,
        };
        self.run(&case, cx).await
    }

    /// Where a command would run, for the classifier.
    pub(crate) fn place_of(&self, request: &CommandRequest, cwd: &Path) -> Ctx {
        let folder = request.cwd.as_deref().unwrap_or(cwd);
        let known = |name: &&str| {
            let value = self.settings.env_filled(name)?;
            Some(((*name).to_owned(), value.to_owned()))
        };
        Ctx {
            cwd: folder.to_string_lossy().into_owned(),
            home: self.home(),
            hermes_home: self.settings.home().to_string_lossy().into_owned(),
            env: KNOWN_VARIABLES.iter().filter_map(known).collect(),
        }
    }

    fn home(&self) -> String {
        self.settings.env_filled("HOME").unwrap_or("/root").to_owned()
    }

    /// The home folders of the user and of the agent.
    pub(crate) fn homes(&self) -> (String, String) {
        (self.home(), self.settings.home().to_string_lossy().into_owned())
    }

    pub(crate) async fn run(&self, case: &Case<'_>, cx: &ToolContext) -> Decision {
        let policy = self.live.now();
        let way = self.way(cx);
        let (ruling, reach) = self.ruling(case, &policy, &way, cx);
        match ruling {
            Ruling::Settled(decision) => {
                let flags = case.flags();
                self.settle(case, &flags, decision, cx)
            }
            Ruling::Unattended => self.unattended(case, reach, &policy, cx).await,
            Ruling::Attended => self.attended(case, &way, &policy, cx).await,
        }
    }

    /// What is to be done about a case as the settings and the session are, and who is there.
    pub(crate) fn ruling(
        &self,
        case: &Case<'_>,
        policy: &Policy,
        way: &Way,
        cx: &ToolContext,
    ) -> (Ruling, Reach) {
        let (home, hermes) = self.homes();
        let facts = Facts {
            command: if case.what == What::Files { case.display } else { case.text },
            is_command: case.what == What::Command,
            report: &case.report,
            policy,
            reach: self.reach(cx, way),
            is_yolo: self.is_yolo || self.sessions.is_yolo(&cx.ids().session),
            is_forced: cx.service::<Forced>().is_some(),
            has_sudo_password: self.settings.env("SUDO_PASSWORD").is_some(),
            homes: &[(&hermes, "~/.hermes"), (&home, "~")],
        };
        (rule(&facts), facts.reach)
    }

    /// Where nobody can be asked, what a person would be asked about doesn't run.
    async fn unattended(
        &self,
        case: &Case<'_>,
        reach: Reach,
        policy: &Policy,
        cx: &ToolContext,
    ) -> Decision {
        let Some(mut flags) = self.flags(case, policy, cx).await else {
            return self.settle(case, &[], interrupted(""), cx);
        };
        if reach == Reach::Nobody {
            self.drop_covered(&mut flags, policy, cx);
        } else if case.what == What::Script && flags.is_empty() {
            // What a script does can't be told as well as what a command does.
            flags.push(script_flag());
        }
        if flags.is_empty() {
            return Decision::approved(By::Nothing);
        }
        let what = describe(&flags);
        let decision = match reach {
            Reach::Cron => Decision::refused(By::CronMode, refusal::cron(&what)),
            _ => Decision::refused(By::Noninteractive, refusal::nobody(&what)),
        };
        self.settle(case, &flags, decision, cx)
    }

    async fn attended(
        &self,
        case: &Case<'_>,
        way: &Way,
        policy: &Policy,
        cx: &ToolContext,
    ) -> Decision {
        let Some(mut flags) = self.flags(case, policy, cx).await else {
            return self.settle(case, &[], interrupted(""), cx);
        };
        let asks_whole = cx.surface() == Surface::Gateway || self.must_ask;
        if case.what == What::Script && asks_whole {
            flags.push(script_flag());
        }
        let had_flags = !flags.is_empty();
        self.drop_covered(&mut flags, policy, cx);
        if flags.is_empty() {
            let by = if had_flags { By::Remembered } else { By::Nothing };
            return self.settle(case, &flags, Decision::approved(by), cx);
        }
        if self.sessions.use_ticket(&cx.ids().session, &sha256(case.text)) {
            return self.settle(case, &flags, Decision::approved(By::Person), cx);
        }
        let smart_denied = match self.review(case, &flags, policy, cx).await {
            Some(SmartVerdict::Approve) => {
                return self.settle(case, &flags, Decision::approved(By::Model), cx);
            }
            verdict => verdict == Some(SmartVerdict::Deny),
        };
        let mut decision = self.ask_person(case, way, &flags, smart_denied, policy, cx).await;
        decision.smart_denied = smart_denied;
        self.settle(case, &flags, decision, cx)
    }

    /// Everything that a person would be asked about; none if the call was given up.
    pub(crate) async fn flags(
        &self,
        case: &Case<'_>,
        policy: &Policy,
        cx: &ToolContext,
    ) -> Option<Vec<Flag>> {
        let mut flags = Vec::new();
        if case.what == What::Command {
            let scan = self.scanner.scan(case.text, &policy.scanner);
            let verdict = tokio::select! {
                biased;
                verdict = hermes_task::caught(scan) => verdict,
                () = cx.cancel().cancelled() => return None,
            };
            let verdict = verdict.unwrap_or_else(|panic| {
                tracing::warn!(panic, "the scanner crashed");
                let action =
                    if policy.scanner.fail_open { ScanAction::Allow } else { ScanAction::Block };
                ScanVerdict::new(action)
            });
            if verdict.action != ScanAction::Allow {
                flags.push(Flag {
                    key: verdict.key(),
                    why: format!("Security scan: {}", verdict.description()),
                    span: 0..0,
                    finding: None,
                });
            }
        }
        flags.extend(case.flags());
        Some(flags)
    }

    /// What a model says, if it is asked at all.
    async fn review(
        &self,
        case: &Case<'_>,
        flags: &[Flag],
        policy: &Policy,
        cx: &ToolContext,
    ) -> Option<SmartVerdict> {
        // What stays and is run or obeyed later on can't be judged by a look at it.
        let is_reviewed = policy.mode == Mode::Smart && case.what != What::Files;
        if !is_reviewed {
            return None;
        }
        let reviewer = match &self.reviewer {
            Ok(reviewer) => reviewer,
            Err(why) => {
                if !self.has_told_of_model.swap(true, Ordering::Relaxed) {
                    let what = "approvals.mode is `smart`, but there is no model to ask";
                    tracing::warn!("{what}, so a person decides: {why}");
                }
                return None;
            }
        };
        let why = describe(flags);
        let request = smart::request(case.display, &why, &case.report, policy.review_timeout);
        let answer = match &request {
            None => Err("the command is too long".to_owned()),
            Some(request) => {
                let asked = hermes_task::caught(reviewer.review(request));
                tokio::select! {
                    biased;
                    answer = tokio::time::timeout(policy.review_timeout, asked) => match answer {
                        Ok(Ok(answer)) => answer,
                        Ok(Err(panic)) => Err(panic),
                        Err(_) => Err("it took too long".to_owned()),
                    },
                    () = cx.cancel().cancelled() => Err("the call was given up".to_owned()),
                }
            }
        };
        let verdict = match &answer {
            Ok(answer) => SmartVerdict::of(answer),
            Err(error) => {
                tracing::warn!(error, "the review failed: a person decides");
                SmartVerdict::Escalate
            }
        };
        self.write_down(case, flags, &format!("smart_{}", verdict.as_str()), By::Model, cx);
        if verdict != SmartVerdict::Escalate {
            let ask = self.question(case, flags, verdict == SmartVerdict::Deny, policy, cx);
            self.tell_before(&ask, "smart", cx).await;
            let choice = Some(verdict.as_str());
            self.tell(HookEvent::PostApprovalResponse, &ask, "smart", choice, cx).await;
        }
        Some(verdict)
    }

    async fn ask_person(
        &self,
        case: &Case<'_>,
        way: &Way,
        flags: &[Flag],
        smart_denied: bool,
        policy: &Policy,
        cx: &ToolContext,
    ) -> Decision {
        let what = describe(flags);
        if cx.service::<SubAgent>().is_some() {
            return if policy.subagent_approves && !smart_denied {
                Decision::approved(By::SubAgent)
            } else {
                no_consent(By::SubAgent, refusal::subagent(&what), Outcome::Denied)
            };
        }
        if smart_denied && matches!(way, Way::Nobody | Way::Taken) {
            return no_consent(By::Model, refusal::smart_denied(&what), Outcome::Denied);
        }
        let ask = self.question(case, flags, smart_denied, policy, cx);
        let allow_permanent = ask.allow_permanent;
        let shown = Arc::new(ask.clone());
        let is_covered = || {
            let mut rest: Vec<Flag> = flags.iter().map(Flag::copy).collect();
            self.drop_covered(&mut rest, &self.live.now(), cx);
            rest.is_empty() && !smart_denied
        };
        let surface = if cx.surface() == Surface::Gateway { "gateway" } else { "cli" };
        let reply = self.put(ask, way, surface, cx, &is_covered).await;
        let mut decision = match reply {
            Reply::Answered(answer) if answer.is_yes() => {
                let answer = if smart_denied { Answer::Once } else { answer };
                self.remember(flags, &answer, cx).await;
                Decision::approved(By::Person)
            }
            Reply::Answered(Answer::Timeout) => {
                no_consent(By::Silence, refusal::timeout(&what), Outcome::Timeout)
            }
            Reply::Answered(Answer::Deny { reason }) => {
                let reason = refusal::reason(reason.as_deref());
                let message = refusal::denied(&what, reason.as_deref());
                let mut decision = no_consent(By::Person, message, Outcome::Denied);
                decision.deny_reason = reason;
                decision
            }
            // Every other answer is a yes, and was one above.
            Reply::Answered(_) => {
                no_consent(By::Person, refusal::denied(&what, None), Outcome::Denied)
            }
            Reply::Covered => Decision::approved(By::Remembered),
            Reply::Interrupted => interrupted(&what),
            Reply::Unheard => no_consent(By::Silence, refusal::unanswered(&what), Outcome::Timeout),
            Reply::Failed(error) => {
                tracing::warn!(error, "asking failed");
                let why = line(&error, MAX_DESCRIPTION / 4);
                // A dialog that breaks is a no; a notice that doesn't arrive was never a question.
                let outcome = match way {
                    Way::Notify(_) => Outcome::Unreachable,
                    _ => Outcome::Denied,
                };
                no_consent(By::Unreachable, refusal::unreachable(&what, &why), outcome)
            }
            Reply::Kept => {
                let mut decision = Decision::refused(By::Pending, refusal::pending(&what));
                decision.status = Some(Status::PendingApproval);
                decision.command = Some(shown.command.clone());
                self.sessions.set_pending(shown, sha256(case.text));
                decision
            }
        };
        decision.allow_permanent = allow_permanent;
        decision
    }

    /// The question about a command.
    fn question(
        &self,
        case: &Case<'_>,
        flags: &[Flag],
        smart_denied: bool,
        policy: &Policy,
        cx: &ToolContext,
    ) -> Ask {
        let shown = Shown::new(case.display);
        let reason = |flag: &Flag| Reason {
            key: flag.key.clone(),
            why: line(&flag.why, MAX_DESCRIPTION),
            span: if flag.span.is_empty() { 0..0 } else { shown.span(&flag.span) },
        };
        let reasons: Vec<Reason> = flags.iter().map(reason).collect();
        let lasting = flags.iter().filter(|flag| flag.finding.is_some());
        Ask {
            id: new_id(),
            session: cx.ids().session.to_string(),
            tool: case.tool.to_owned(),
            description: describe(flags),
            allow_permanent: !smart_denied && flags.iter().all(|flag| flag.finding.is_some()),
            smart_denied,
            covers: lasting.map(|flag| flag.key.clone()).collect(),
            timeout: policy.timeout,
            command: shown.text,
            reasons,
        }
    }

    /// Writes a decision down and completes it.
    fn settle(
        &self,
        case: &Case<'_>,
        flags: &[Flag],
        mut decision: Decision,
        cx: &ToolContext,
    ) -> Decision {
        if decision.pattern_keys.is_empty() {
            decision.pattern_keys = flags.iter().map(|flag| flag.key.clone()).collect();
        }
        if decision.description.is_none() && !flags.is_empty() {
            decision.description = Some(describe(flags));
        }
        // What nobody could object to would only hide the rest.
        if !flags.is_empty() || !decision.approved {
            let verdict = match (decision.approved, decision.status) {
                (true, _) => "approved",
                (false, Some(Status::PendingApproval)) => "pending",
                (false, _) => "denied",
            };
            self.write_down(case, flags, verdict, decision.by, cx);
        }
        decision
    }

    fn write_down(&self, case: &Case<'_>, flags: &[Flag], verdict: &str, by: By, cx: &ToolContext) {
        let Some(log) = &self.log else { return };
        let findings: Vec<String> =
            flags.iter().map(|flag| format!("{}: {}", flag.key, flag.why)).collect();
        let ids = cx.ids();
        audit::record(
            log,
            &Record {
                session: &ids.session,
                call: &ids.call,
                tool: case.tool,
                command: case.text,
                findings: &findings,
                verdict,
                decided_by: by,
            },
        );
    }
}

fn no_consent(by: By, message: String, outcome: Outcome) -> Decision {
    Decision { outcome: Some(outcome), user_consent: Some(false), ..Decision::refused(by, message) }
}

fn interrupted(what: &str) -> Decision {
    let what = if what.is_empty() { "it had not been put yet" } else { what };
    no_consent(By::Interrupt, refusal::interrupted(what), Outcome::Interrupted)
}
