//! Volumes of containers, `SOURCE:TARGET[:MODE]`.

use crate::config::cwd::has_drive;

/// Whether the source of a volume is a folder of the host, and not the name of a volume. What has no
/// source is judged as if it were one.
#[must_use]
pub fn is_host_folder(volume: &str) -> bool {
    let volume = volume.trim();
    let source = volume_parts(volume).map_or(volume, |(source, _)| source).trim();
    !source.is_empty() && (!is_name(source) || starts_a_windows_path(volume, source))
}

/// The source and the target of a volume, if it has both.
#[must_use]
pub fn volume_parts(volume: &str) -> Option<(&str, &str)> {
    // The colon of a drive letter separates nothing. But a volume may have a name of one letter:
    // it is a drive only if a target comes later.
    let target = volume.get(2..).and_then(|rest| rest.split_once(':')).map(|(_, target)| target);
    let is_drive = has_drive(volume)
        && target.is_some_and(|target| target.starts_with('/') || has_drive(target));
    let skip = if is_drive { 2 } else { 0 };
    let at = skip + volume.get(skip..)?.find(':')?;
    let source = volume.get(..at)?;
    let rest = volume.get(at + 1..)?;
    let target = rest.split(':').next()?;
    (!source.trim().is_empty() && !target.trim().is_empty()).then_some((source, target))
}

/// Whether engines take a text for the name of a volume. They take everything else for a path, or
/// for a fault.
pub(super) fn is_name(source: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    source.starts_with(|c: char| c.is_ascii_alphanumeric()) && source.chars().all(is_plain)
}

/// A drive without a target: no folder in a container begins with a backslash.
fn starts_a_windows_path(volume: &str, source: &str) -> bool {
    source.len() == 1 && has_drive(volume) && volume.get(2..).is_some_and(|it| it.starts_with('\\'))
}
