//! stub
use serde_json::Value;
/// stub
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    /// x
    Context,
}
/// stub
pub fn scan(_: &str, _: Scope) -> Vec<String> {
    vec![]
}
/// stub
#[derive(Clone, Debug)]
pub struct Risk {
    /// x
    pub findings: Vec<String>,
}
impl Risk {
    /// x
    pub fn to_value(&self) -> Value {
        Value::Null
    }
}
/// stub
pub fn risk(_: &str) -> Option<Risk> {
    None
}
