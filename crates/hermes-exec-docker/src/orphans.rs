//! Containers that nobody came back for.

use std::time::{Duration, SystemTime};

use crate::cli::Cli;
use crate::instant;
use crate::reuse::rows;
use crate::run_args::{OURS, PROFILE};
use crate::values::label;

/// What is asked about each of them: its number, its state, and when it was made and ended.
const COLUMNS: &str = "{{.Id}}\t{{.State.Status}}\t{{.Created}}\t{{.State.FinishedAt}}";

/// The shortest time that a container is left alone, whatever the settings say.
const LEAST: Duration = Duration::from_secs(60);

/// Whether a container that ended at `finished_at` is old enough to be removed at `now`, both as
/// engines write times. One that never ended, or of which that isn't known, is left.
#[must_use]
pub fn is_orphan(finished_at: &str, now: &str, max_age: Duration) -> bool {
    instant::parse(now).is_some_and(|now| is_older(finished_at, now, max_age))
}

fn is_older(time: &str, now: i128, max_age: Duration) -> bool {
    let age = i128::try_from(max_age.as_nanos()).unwrap_or(i128::MAX);
    // Engines write the first of January of the year 1 for never.
    instant::parse(time).is_some_and(|time| time > 0 && now - time > age)
}

/// Removes the containers of a profile that ended more than twice `lifetime` ago, and those that
/// were made as long ago and never started. How many those were.
pub(crate) async fn reap(cli: &Cli, profile: &str, lifetime: Duration) -> usize {
    let max_age = lifetime.max(LEAST) * 2;
    let now = instant::nanoseconds_of(SystemTime::now());
    let profile = format!("label={PROFILE}={}", label(profile));
    let ours = format!("label={OURS}");
    // The states are told apart here: each engine refuses those that it hasn't as a filter.
    let format = "{{.ID}}\t{{.State}}";
    let mut arguments = vec!["ps", "-a", "--no-trunc", "--format", format];
    arguments.extend(["--filter", &ours, "--filter", &profile]);
    let Ok(listed) = cli.ask(&arguments).await else { return 0 };
    let mut reaped = 0;
    for row in rows(&listed).filter(|row| !row.is_running()) {
        let Ok(row) = cli.ask(&["inspect", "--format", COLUMNS, row.id]).await else { continue };
        let mut columns = row.trim().split('\t');
        let (Some(id), Some(state)) = (columns.next(), columns.next()) else { continue };
        let (created, finished) = (columns.next(), columns.next());
        let time = match state {
            // Podman says `configured` of those.
            "created" | "configured" => created,
            "exited" | "dead" | "stopped" => finished,
            _ => None,
        };
        if time.is_some_and(|time| is_older(time, now, max_age)) && cli.remove(id).await.is_ok() {
            tracing::info!(id, state, "a container that nobody came back for is removed");
            reaped += 1;
        }
    }
    reaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn orphans() {
        let now = "2026-05-28T10:11:40Z";
        for (finished_at, expected) in [
            ("2026-05-28T10:00:00.123456789Z", true),
            ("2026-05-28T10:01:40Z", false),
            ("2026-05-28T10:01:39.9Z", true),
            ("2026-05-28T12:00:00+02:00", true),
            ("2026-05-28 10:00:00.1 +0000 UTC", true),
            ("2026-05-29T10:00:00Z", false),
            ("0001-01-01T00:00:00Z", false),
            ("0001-01-01 00:00:00 +0000 UTC", false),
            ("", false),
            ("<no value>", false),
        ] {
            let is_orphan = is_orphan(finished_at, now, Duration::from_secs(600));
            assert_eq!(is_orphan, expected, "{finished_at}");
        }
        assert!(!is_orphan(now, "later", Duration::ZERO));
    }
}
