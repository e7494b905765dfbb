//! The few colours. Streams that aren't for people take them off again.

use anstyle::{AnsiColor, Style};

/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Success, on.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Attention.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// Failure.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
