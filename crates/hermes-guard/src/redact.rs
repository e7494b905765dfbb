//! stub
use serde_json::Value;
use std::borrow::Cow;
/// stub
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// x
    Log,
}
/// stub
pub fn redact(t: &str, _: Mode) -> Cow<'_, str> {
    t.into()
}
/// stub
pub fn redact_value(v: &Value, _: Mode) -> Value {
    v.clone()
}
