//! The model of smart mode behind an HTTP service that speaks OpenAI's chat protocol.

use std::fmt;

use hermes_guard::redact::{Mode, redact};
use hermes_net::{BaseUrl, Client, NetError};
use hermes_registry::{CancellationToken, Settings};
use serde_json::{Map, Value, json};

use crate::shown::line;
use crate::smart::{ReviewRequest, Reviewer, ReviewerFuture};

/// The settings of the model.
const SECTION: &str = "auxiliary.approval";

/// Most bytes of an answer: it is a word, beside what services tell of themselves.
const MAX_ANSWER: u64 = 1024 * 1024;

/// Most characters of what a service says about a failure.
const MAX_ERROR: usize = 200;

/// Services that a name is enough for, with the variables that hold their keys.
const PROVIDERS: [(&str, &str, &str); 2] = [
    ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
];

/// A model that is asked by `POST BASE/chat/completions`.
pub struct ChatModel {
    client: Client,
    base: BaseUrl,
    model: String,
    key: Option<String>,
    /// What goes into each request besides.
    more: Map<String, Value>,
}

impl fmt::Debug for ChatModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatModel")
            .field("base", &redact(self.base.as_str(), Mode::Egress))
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl ChatModel {
    /// The model that `auxiliary.approval` describes: `base_url` (or `provider: openai` or
    /// `openrouter`, with the key in the environment), `model`, `api_key`, `extra_body` and
    /// `reasoning_effort`.
    ///
    /// # Errors
    /// What is missing or can't be used, in a sentence for the user.
    pub fn of(settings: &Settings, client: Client) -> Result<Self, String> {
        let get = |key: &str| settings.get(&format!("{SECTION}.{key}"));
        let text = |key: &str| -> Option<String> {
            let text = match get(key)? {
                Value::String(text) => text.trim().to_owned(),
                // A model may be called `4.0`.
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            (!text.is_empty()).then_some(text)
        };
        let provider = text("provider").unwrap_or_default().to_ascii_lowercase();
        let known = PROVIDERS.iter().find(|(name, ..)| *name == provider);
        let configured = text("base_url");
        let default = known.map_or("", |(_, url, _)| url);
        if configured.is_none() && default.is_empty() {
            return Err(format!("{SECTION}.base_url isn't set"));
        }
        let model = text("model").ok_or_else(|| format!("{SECTION}.model isn't set"))?;
        let setting = format!("{SECTION}.base_url");
        let base = BaseUrl::new(&setting, default, configured.as_deref())
            .map_err(|error| error.to_string())?;
        let of_provider = || {
            let (.., variable) = known.filter(|_| configured.is_none())?;
            settings.env_filled(variable).map(str::to_owned)
        };
        let mut more = match get("extra_body") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(more)) => more.clone(),
            Some(_) => return Err(format!("{SECTION}.extra_body is no mapping")),
        };
        if let Some(effort) = text("reasoning_effort") {
            more.entry("reasoning_effort").or_insert(effort.into());
        }
        Ok(Self { client, base, model, key: text("api_key").or_else(of_provider), more })
    }

    /// The body of a request. `extra_body` may change how the model is asked (null leaves a field
    /// out), but neither whom nor what.
    fn body(&self, request: &ReviewRequest) -> Value {
        let mut body = Map::new();
        body.insert("temperature".to_owned(), request.temperature.into());
        body.insert("max_tokens".to_owned(), request.max_tokens.into());
        body.extend(self.more.clone());
        body.retain(|_, value| !value.is_null());
        body.insert("model".to_owned(), self.model.as_str().into());
        body.insert("stream".to_owned(), false.into());
        let messages = json!([
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ]);
        body.insert("messages".to_owned(), messages);
        body.into()
    }

    async fn ask(&self, request: &ReviewRequest) -> Result<String, String> {
        let told = |error: NetError| error.to_string();
        let mut post = self
            .base
            .post("chat/completions")
            .json(&self.body(request))
            .max_body(MAX_ANSWER)
            .timeout(Some(request.timeout))
            .idle(request.timeout);
        if let Some(key) = &self.key {
            post = post.secret_header("authorization", &format!("Bearer {key}")).secret(key);
        }
        // Whoever gives the call up drops this future, and the connection with it.
        let never = CancellationToken::new();
        let response = self.client.send(post, &never).await.map_err(told)?;
        let status = response.status;
        let bytes = response.body.bytes().await.map_err(told)?;
        let answer = serde_json::from_slice::<Value>(&bytes).unwrap_or_default();
        if !status.is_success() {
            let message = answer.pointer("/error/message").or_else(|| answer.get("error"));
            let said = message.and_then(Value::as_str).unwrap_or_default();
            let said = match &self.key {
                Some(key) => said.replace(key.as_str(), "***"),
                None => said.to_owned(),
            };
            return Err(format!("the model's service says {status}: {}", line(&said, MAX_ERROR)));
        }
        text_of(&answer).ok_or_else(|| "the model's answer has no text".to_owned())
    }
}

impl Reviewer for ChatModel {
    fn review<'a>(&'a self, request: &'a ReviewRequest) -> ReviewerFuture<'a> {
        Box::pin(self.ask(request))
    }
}

/// The text of an answer: all of it, or in parts.
fn text_of(answer: &Value) -> Option<String> {
    match answer.pointer("/choices/0/message/content")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            Some(texts.collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;

    fn model(section: &Value, env: &[(&str, &str)]) -> Result<ChatModel, String> {
        let config = json!({"auxiliary": {"approval": section}});
        let settings = Settings::default().with_config(config).with_env(env.iter().copied());
        ChatModel::of(&settings, Client::default())
    }

    #[test]
    fn settings_say_whom_to_ask() {
        let base = "http://localhost:1/v1";
        let made = model(&json!({"base_url": base, "model": "m", "api_key": "k"}), &[]).unwrap();
        assert_eq!((made.base.as_str(), made.key.as_deref()), (base, Some("k")));
        let env = [("OPENAI_API_KEY", "sk-1")];
        let made = model(&json!({"provider": "OpenAI", "model": 4.5}), &env).unwrap();
        assert_eq!((&*made.model, made.key.as_deref()), ("4.5", Some("sk-1")));
        // A key isn't for another service than its own.
        let made = model(&json!({"provider": "openai", "base_url": base, "model": "m"}), &env);
        assert_eq!(made.unwrap().key, None);
        for (section, expected) in [
            (json!({}), "base_url isn't set"),
            (json!(null), "base_url isn't set"),
            (json!({"provider": "auto", "model": "m"}), "base_url isn't set"),
            (json!({"base_url": base}), "model isn't set"),
            (json!({"base_url": "localhost:1", "model": "m"}), "auxiliary.approval.base_url"),
            (json!({"base_url": base, "model": "m", "extra_body": "x"}), "no mapping"),
        ] {
            let error = model(&section, &[]).unwrap_err();
            assert!(error.contains(expected), "{section}: {error}");
        }
    }

    #[test]
    fn more_fields_change_neither_whom_nor_what() {
        let more = json!({"max_tokens": null, "max_completion_tokens": 32, "messages": [], "model": "x",
            "stream": true, "temperature": 1});
        let section = json!({"base_url": "http://x", "model": "m", "extra_body": more,
            "reasoning_effort": "low"});
        let request = ReviewRequest {
            task: "approval",
            system: "s".into(),
            user: "u".into(),
            temperature: 0.0,
            max_tokens: 16,
            timeout: Duration::from_secs(1),
        };
        let messages =
            [json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "u"})];
        let expected = json!({"model": "m", "stream": false, "temperature": 1,
            "max_completion_tokens": 32, "reasoning_effort": "low", "messages": messages});
        assert_eq!(model(&section, &[]).unwrap().body(&request), expected);
    }

    #[test]
    fn answers_come_whole_or_in_parts() {
        let answer =
            |content: Value| text_of(&json!({"choices": [{"message": {"content": content}}]}));
        assert_eq!(answer(json!("DENY")).as_deref(), Some("DENY"));
        assert_eq!(answer(json!([{"text": "AP"}, {"text": "PROVE"}])).as_deref(), Some("APPROVE"));
        assert_eq!((answer(json!(null)), text_of(&json!({"choices": []}))), (None, None));
    }
}
