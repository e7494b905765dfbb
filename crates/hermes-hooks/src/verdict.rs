//! What all hooks together make of a call.

use serde_json::Value;

use crate::hook::Reply;

/// What the model is told when a hook blocks without a word.
pub const DEFAULT_BLOCK: &str = "a hook of this host blocked the call";

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It goes on.
    Go,
    /// It must not run.
    Block {
        /// Why, for the model. Never blank.
        message: String,
    },
    /// A person must agree.
    Ask {
        /// What the person should know; empty if no hook said.
        message: String,
        /// What remembers the answer, trimmed; none if no hook said.
        rule_key: Option<String>,
    },
}

impl Verdict {
    /// A block, with a text even where the hook gave none.
    pub(crate) fn block(message: Option<&str>) -> Self {
        let message = message.map(str::trim).filter(|message| !message.is_empty());
        Self::Block { message: message.unwrap_or(DEFAULT_BLOCK).to_owned() }
    }
}

/// Puts replies together: a block beats every question, and several questions are one. The order
/// of the hooks decides only whose words and whose rule come first.
pub fn merge<'r>(replies: impl IntoIterator<Item = &'r Reply>) -> Verdict {
    let mut asks = false;
    let mut messages: Vec<&str> = Vec::new();
    let mut rule_key = None;
    for reply in replies {
        match reply {
            Reply::Block { message } => return Verdict::block(message.as_deref()),
            Reply::Approve { message, rule_key: key } => {
                if !asks {
                    let key = key.as_deref().map(str::trim).filter(|key| !key.is_empty());
                    rule_key = key.map(str::to_owned);
                }
                asks = true;
                let message = message.as_deref().map(str::trim).unwrap_or_default();
                if !message.is_empty() && !messages.contains(&message) {
                    messages.push(message);
                }
            }
            _ => {}
        }
    }
    if asks { Verdict::Ask { message: messages.join("; "), rule_key } } else { Verdict::Go }
}

/// The arguments that a reply asks for.
pub(crate) fn modification(reply: &Reply) -> Option<&Value> {
    match reply {
        Reply::Modify { args } => Some(args),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(message: &str, key: &str) -> Reply {
        Reply::Approve { message: Some(message.into()), rule_key: Some(key.into()) }
    }

    #[test]
    fn deny_before_ask_before_allow() {
        let silent = Reply::Block { message: Some(" ".into()) };
        assert_eq!(merge(&[ask("a", "k"), silent]), Verdict::block(None));
        assert_eq!(merge(&[Reply::Nothing]), Verdict::Go);
        let both = merge(&[Reply::Nothing, ask("a", " k "), ask("b", "other"), ask("a", "")]);
        assert_eq!(both, Verdict::Ask { message: "a; b".into(), rule_key: Some("k".into()) });
    }
}
