//! What becomes of a result: failure, guardrail, limits and framing; and snapshots before calls.

use hermes_guard::destructive::is_destructive;
use hermes_registry::ResultLimit;
use hermes_turn::failure::is_failure;
use hermes_turn::framing::{frame, frame_parts};
use hermes_turn::guardrail::{GuardrailConfig, Guardrails, Observed};
use hermes_turn::limits::{
    Item, LimitConfig, Limited, ResultBudget, Threshold, file_name, limit, persisted_block,
    preview as preview_of, spill_order, truncated,
};
use serde_json::{Value, json};

use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("guardrail", Binding::Actual(guardrail)),
    ("result_threshold", Binding::Actual(result_threshold)),
    ("budget_for_context", Binding::Actual(budget_for_context)),
    ("result_filename", Binding::Actual(result_filename)),
    ("preview", Binding::Actual(preview)),
    ("persist_result", Binding::Actual(persist_result)),
    ("turn_budget", Binding::Actual(turn_budget)),
    ("tool_failure", Binding::Actual(tool_failure)),
    ("wrap_untrusted", Binding::Actual(wrap_untrusted)),
    ("destructive_command", Binding::Actual(destructive_command)),
];

/// What the tools declare of themselves; here only their names are given.
const IDEMPOTENT: [&str; 8] = [
    "read_file",
    "search_files",
    "web_search",
    "web_extract",
    "session_search",
    "browser_snapshot",
    "browser_console",
    "browser_get_images",
];
const THIRD_PARTY: [&str; 3] = ["web_extract", "web_search", "x_search"];
const THIRD_PARTY_PREFIXES: [&str; 6] = ["browser_", "mcp_", "feishu_", "discord", "mail", "email"];

fn guardrail(input: &Value) -> Result<Value, String> {
    let config = input.get("config").unwrap_or(&Value::Null);
    let mut rails = Guardrails::new(GuardrailConfig::from_value(config));
    let mut decisions = Vec::new();
    for step in list(input, "steps")? {
        let empty = json!({});
        let args = step.get("args").unwrap_or(&empty);
        let decision = match text(step, "op")? {
            "reset" => {
                rails.reset();
                decisions.push(Value::Null);
                continue;
            }
            "before" => rails.before(text(step, "tool")?, args),
            "after" => {
                let tool = text(step, "tool")?;
                let result = match step.get("result") {
                    Some(Value::String(text)) => text.clone(),
                    None | Some(Value::Null) => String::new(),
                    Some(other) => other.to_string(),
                };
                rails.after(Observed {
                    tool,
                    args,
                    failed: step.get("failed") == Some(&Value::Bool(true)),
                    idempotent: IDEMPOTENT.contains(&tool),
                    result: &result,
                })
            }
            other => return Err(format!("unknown step {other:?}")),
        };
        decisions.push(json!({
            "action": decision.action.as_str(),
            "code": decision.code,
            "count": decision.count,
        }));
    }
    Ok(json!({ "decisions": decisions }))
}

fn result_threshold(input: &Value) -> Result<Value, String> {
    let registered = match input.get("registered").and_then(Threshold::from_value) {
        None => ResultLimit::Default,
        Some(Threshold::Unlimited) => ResultLimit::Unlimited,
        Some(Threshold::Chars(chars)) => {
            ResultLimit::Chars(u32::try_from(chars).unwrap_or(u32::MAX))
        }
    };
    let mut config = LimitConfig::default();
    if let Some(size) = input.get("default_result_size").and_then(Value::as_u64) {
        config.budget.per_result = size as usize;
    }
    let config = config.with_overrides(input.get("tool_overrides").unwrap_or(&Value::Null));
    Ok(json!({ "threshold": threshold_json(config.threshold(text(input, "tool")?, registered)) }))
}

fn threshold_json(threshold: Threshold) -> Value {
    match threshold {
        Threshold::Unlimited => "unlimited".into(),
        Threshold::Chars(chars) => chars.into(),
    }
}

fn budget_for_context(input: &Value) -> Result<Value, String> {
    let tokens = input
        .get("context_length")
        .and_then(|length| length.as_u64().or_else(|| length.as_f64().map(|length| length as u64)));
    let budget = ResultBudget::for_context(tokens);
    Ok(json!({
        "per_result": budget.per_result,
        "per_turn": budget.per_turn,
        "preview": budget.preview,
    }))
}

fn result_filename(input: &Value) -> Result<Value, String> {
    let id = input.get("id").and_then(Value::as_str).unwrap_or_default();
    Ok(json!({ "filename": file_name(id) }))
}

fn preview(input: &Value) -> Result<Value, String> {
    let content = long_text(input.get("content"))?;
    let chars = input.get("max_chars").and_then(Value::as_u64);
    let chars = chars.map_or(ResultBudget::default().preview, |chars| chars as usize);
    let (shown, has_more) = preview_of(&content, chars);
    Ok(json!({ "preview_chars": shown.chars().count(), "has_more": has_more }))
}

fn persist_result(input: &Value) -> Result<Value, String> {
    let outcome = |mode: &str, stored: bool| Ok(json!({ "mode": mode, "stored_full": stored }));
    if is_multimodal(input.get("content")) {
        return outcome("inline", false);
    }
    let content = long_text(input.get("content"))?;
    let threshold = input.get("threshold").unwrap_or(&Value::Null);
    let threshold = match threshold {
        Value::Null => Threshold::Chars(ResultBudget::default().per_result),
        threshold => Threshold::from_value(threshold).ok_or("`threshold` is no limit")?,
    };
    let preview_chars = ResultBudget::default().preview;
    let storage = text(input, "storage")?;
    let path = result_path(input.get("id"));
    let path = (storage != "none").then_some(path.as_str());
    match limit(&content, threshold, preview_chars, path) {
        Limited::Inline => outcome("inline", false),
        Limited::Truncated(_) => outcome("truncated", false),
        Limited::Store(_) if storage == "ok" => outcome("persisted", true),
        Limited::Store(_) => match truncated(&content, preview_chars) {
            Some(_) => outcome("truncated", false),
            None => outcome("inline", false),
        },
    }
}

fn result_path(id: Option<&Value>) -> String {
    let id = id.and_then(Value::as_str).unwrap_or_default();
    format!("/tmp/hermes-results/{}", file_name(id))
}

fn turn_budget(input: &Value) -> Result<Value, String> {
    let budget = input.get("turn_budget").and_then(Value::as_u64);
    let budget = budget.map_or(ResultBudget::default().per_turn, |budget| budget as usize);
    let results = list(input, "results")?;
    let items = results.iter().map(|result| {
        let content = result.get("content");
        let persisted = result.get("persisted") == Some(&Value::Bool(true));
        if is_multimodal(content) {
            let texts = content.and_then(Value::as_array).into_iter().flatten();
            let texts = texts.filter_map(|part| part.get("text").and_then(Value::as_str));
            let chars = texts.map(|text| text.chars().count()).sum();
            return Ok(Item { chars, replaced_chars: None, persisted });
        }
        let content = long_text(content)?;
        let path = result_path(result.get("id"));
        let block = persisted_block(&content, &path, ResultBudget::default().preview);
        let replaced_chars = block.map(|block| block.chars().count());
        Ok(Item { chars: content.chars().count(), replaced_chars, persisted })
    });
    let items = items.collect::<Result<Vec<_>, String>>()?;
    let spilled = spill_order(budget, &items);
    let ids: Vec<_> = spilled.iter().filter_map(|at| results.get(*at)?.get("id")).collect();
    Ok(json!({ "spilled": ids }))
}

fn tool_failure(input: &Value) -> Result<Value, String> {
    let failed = is_failure(text(input, "tool")?, &long_text(input.get("result"))?);
    Ok(json!({ "failed": failed }))
}

fn wrap_untrusted(input: &Value) -> Result<Value, String> {
    let tool = text(input, "tool")?;
    let is_third_party = THIRD_PARTY.contains(&tool)
        || THIRD_PARTY_PREFIXES.iter().any(|prefix| tool.starts_with(prefix));
    let content = input.get("content");
    if is_multimodal(content) {
        let parts = content.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let texts = || parts.iter().map(|part| part.get("text").and_then(Value::as_str));
        let framed =
            if is_third_party { frame_parts(tool, texts()) } else { vec![None; parts.len()] };
        let wrapped: Vec<_> =
            texts().zip(&framed).map(|(text, framed)| text.map(|_| framed.is_some())).collect();
        let output: String =
            texts().zip(&framed).filter_map(|(text, framed)| framed.as_deref().or(text)).collect();
        return Ok(json!({
            "wrapped": framed.iter().any(Option::is_some),
            "wrapped_parts": wrapped,
            "open_tags": output.matches("<untrusted_tool_result").count(),
            "close_tags": output.matches("</untrusted_tool_result>").count(),
        }));
    }
    let content = long_text(content)?;
    let framed = if is_third_party { frame(tool, &content) } else { None };
    let output = framed.as_deref().unwrap_or(&content);
    Ok(json!({
        "wrapped": framed.is_some(),
        "open_tags": output.matches("<untrusted_tool_result").count(),
        "close_tags": output.matches("</untrusted_tool_result>").count(),
    }))
}

fn destructive_command(input: &Value) -> Result<Value, String> {
    Ok(json!({ "destructive": is_destructive(&long_text(input.get("command"))?) }))
}

/// Whether the content is a list of parts of a message.
fn is_multimodal(content: Option<&Value>) -> bool {
    let parts = content.and_then(Value::as_array);
    parts.is_some_and(|parts| parts.iter().any(|part| part.get("type").is_some()))
}

/// A text, or a list of `{s, n}`: `s` repeated `n` times, once if it isn't given.
fn long_text(value: Option<&Value>) -> Result<String, String> {
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(pieces)) => pieces
            .iter()
            .map(|piece| {
                let times = piece.get("n").and_then(Value::as_u64).unwrap_or(1);
                Ok(text(piece, "s")?.repeat(times as usize))
            })
            .collect(),
        other => Err(format!("no text: {other:?}")),
    }
}
