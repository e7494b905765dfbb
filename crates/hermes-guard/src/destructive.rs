//! stub
/// stub
pub fn is_destructive(_: &str) -> bool {
    false
}
