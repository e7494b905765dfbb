#![doc = include_str!("../README.md")]

mod allowlist;
mod approver;
mod asking;
mod audit;
mod case;
pub mod chat;
#[cfg(feature = "model")]
mod chat_model;
mod comments;
mod deciding;
mod decision;
mod files;
mod foreseeing;
mod gate;
mod gateway;
mod gateway_control;
mod glob;
mod inspect;
mod keys;
mod live;
mod mailbox;
mod permission;
mod place;
mod policy;
mod question;
mod refusal;
mod remembering;
mod ruling;
pub mod scanner;
mod session;
mod shown;
mod slash;
mod smart;
mod staging;
mod surface;
mod variants;

pub use allowlist::{Allowlist, EntryKind};
pub use approver::{
    Answer, Approver, AskFuture, Callback, FixedAnswer, Prompter, Prospect, Question,
};
#[cfg(feature = "model")]
pub use chat_model::ChatModel;
pub use comments::without_comments;
pub use decision::{By, Decision, Outcome, Status};
pub use files::{ChangedFile, FileGate, FileRequest};
pub use foreseeing::{Foreseen, ForeseenFuture};
pub use gate::{
    Approvals, ApprovalsBuilder, CommandGate, CommandRequest, DecisionFuture, ScriptRequest,
};
pub use gateway::ChatOutcome;
pub use gateway_control::{controls_gateway, mentions_gateway_control};
pub use inspect::{Inspected, Inspection};
pub use keys::{is_upstream_key, key_of};
pub use mailbox::{Mailbox, Posted};
pub use permission::Elicitation;
pub use place::Place;
pub use policy::{Mode, Policy, is_approval};
pub use question::{Ask, Reason};
pub use ruling::denied_by;
pub use session::{Notifier, NotifyFuture, Sessions, Which};
pub use slash::{SlashChoice, SlashConfirmations, SlashFuture, SlashHandler};
pub use smart::{ReviewRequest, Reviewer, ReviewerFuture, SmartVerdict};
pub use staging::{
    Origin, ProposedWrite, Staged, Staging, Subsystem, WriteFuture, WriteGate, WriteVerdict,
};
pub use surface::{Forced, SubAgent, surface_of};
