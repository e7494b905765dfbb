//! Moments as the allowlist writes them.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in UTC as ISO 8601 with `Z`; with microseconds unless there are none. Moments before
/// 1970 are that year's first.
pub(super) fn iso(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let micros = match since.subsec_micros() {
        0 => String::new(),
        micros => format!(".{micros:06}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{micros}Z")
}

/// The date of a number of days since 1970. Years are counted from March here, so that the day
/// that only some of them have is the last one.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_have_their_dates() {
        for (seconds, micros, expected) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (951_782_399, 0, "2000-02-28T23:59:59Z"),
            (951_782_400, 5, "2000-02-29T00:00:00.000005Z"),
            (1_709_251_199, 999_999, "2024-02-29T23:59:59.999999Z"),
            (1_735_689_600, 0, "2025-01-01T00:00:00Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00Z"),
        ] {
            let moment = UNIX_EPOCH + Duration::new(seconds, micros * 1000);
            assert_eq!(iso(moment), expected);
        }
    }
}
