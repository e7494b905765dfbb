//! What the deferrable tools would cost, and whether to withhold them.

use std::io::{self, Write};

use serde::Serialize;

use crate::config::{SearchMode, ToolSearchConfig};

/// Characters that are counted as one token.
const CHARS_PER_TOKEN: u64 = 4;

/// Cost in tokens from which tools are withheld when the context length isn't known.
const UNKNOWN_CONTEXT_CUTOFF: u64 = 20_000;

/// The most tools that may be sent in one request: OpenAI refuses more.
pub const MAX_TOOLS_PER_REQUEST: usize = 128;

/// Estimates the tokens that `definitions` take: a quarter of the characters (Unicode scalars) of
/// their compact JSON, added up before rounding up.
pub fn estimate_tokens<T: Serialize>(definitions: impl IntoIterator<Item = T>) -> u64 {
    let mut counter = ScalarCounter(0);
    for definition in definitions {
        // What was counted up to an error stands: a definition that doesn't serialise isn't sent.
        let _ = serde_json::to_writer(&mut counter, &definition);
    }
    counter.0.div_ceil(CHARS_PER_TOKEN)
}

/// Decides whether deferrable tools are withheld.
///
/// `deferrable_tokens` is their cost, `context_length` the model's context in tokens (`None` or 0
/// if not known), `tool_count` the number of all tools that would be sent otherwise.
#[must_use]
pub fn should_activate(
    config: &ToolSearchConfig,
    deferrable_tokens: u64,
    context_length: Option<u64>,
    tool_count: usize,
) -> bool {
    if deferrable_tokens == 0 {
        return false;
    }
    match config.enabled {
        SearchMode::Off => false,
        SearchMode::On => true,
        SearchMode::Auto => {
            let cutoff = match context_length {
                // Multiplied first: a fraction of a percent would otherwise round the wrong way.
                Some(length) if length > 0 => (length as f64 * config.threshold_pct / 100.0) as u64,
                _ => UNKNOWN_CONTEXT_CUTOFF,
            };
            deferrable_tokens >= cutoff || tool_count > MAX_TOOLS_PER_REQUEST
        }
    }
}

/// Counts the characters of the UTF-8 written to it.
struct ScalarCounter(u64);

impl Write for ScalarCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let scalars = bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        self.0 += scalars as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn characters_are_scalars_and_summed_before_rounding() {
        assert_eq!(estimate_tokens([json!({})]), 1);
        assert_eq!(estimate_tokens([json!({}), json!({})]), 1);
        assert_eq!(estimate_tokens([json!("气质量指数天")]), 2);
        assert_eq!(estimate_tokens(Vec::<serde_json::Value>::new()), 0);
    }

    #[test]
    fn activation() {
        use SearchMode::{Auto, Off, On};
        let check = |enabled, pct, tokens, length, tools, expected| {
            let config =
                ToolSearchConfig { enabled, threshold_pct: pct, ..ToolSearchConfig::default() };
            let actual = should_activate(&config, tokens, length, tools);
            assert_eq!(actual, expected, "{enabled:?} {pct} {tokens} {length:?} {tools}");
        };
        check(Off, 10.0, 1_000_000, Some(1000), 500, false);
        check(On, 10.0, 1, None, 1, true);
        check(On, 10.0, 0, None, 1, false);
        check(Auto, 10.0, 0, Some(1000), 500, false);
        check(Auto, 0.0, 1, Some(1000), 1, true);
        check(Auto, 10.0, 19_999, Some(0), 1, false);
        check(Auto, 10.0, 20_000, None, 1, true);
        check(Auto, 10.0, 19, Some(199), 1, true);
        check(Auto, 10.0, 18, Some(199), 1, false);
        check(Auto, 7.0, 8959, Some(128_000), 1, false);
        check(Auto, 7.0, 8960, Some(128_000), 1, true);
        check(Auto, 10.0, 1, Some(1_000_000), 128, false);
        check(Auto, 10.0, 1, Some(1_000_000), 129, true);
    }
}
