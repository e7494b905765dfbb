//! Which crates are linked.
pub const FEATURES: &[(&str, &str, &str)] = &[];
pub fn linked() -> Vec<&'static [&'static hermes_registry::ToolSpec]> {
    vec![]
}
