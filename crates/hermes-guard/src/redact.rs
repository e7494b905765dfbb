//! stub
use std::borrow::Cow; use serde_json::Value;
/// stub
#[derive(Clone,Copy,Debug)] pub enum Mode { /// x
 Log }
/// stub
pub fn redact(t: &str, _: Mode) -> Cow<'_, str> { t.into() }
/// stub
pub fn redact_value(v: &Value, _: Mode) -> Value { v.clone() }
