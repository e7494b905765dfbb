//! Points in time as engines write them.

use std::time::{Duration, SystemTime};

/// Nanoseconds since 1970 of a time such as `2026-05-28T10:00:00.123456789Z`, with an offset in
/// place of the `Z`, or as Podman writes it, `2026-05-28 10:00:00.123 +0000 UTC`.
pub(crate) fn parse(text: &str) -> Option<i128> {
    let text = text.trim();
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let mut parts = date.split('-');
    let mut number = |digits| whole(parts.next()?, digits);
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || day < 1 || day > length(year, month)
    {
        return None;
    }
    let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.'));
    let (clock, zone) = rest.split_at_checked(end?)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let mut number = || whole(parts.next()?, 2);
    let (hour, minute, second) = (number()?, number()?, number()?);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let seconds = seconds - offset(zone)?;
    Some(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds(fraction)?))
}

/// Nanoseconds since 1970.
pub(crate) fn nanoseconds_of(time: SystemTime) -> i128 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)
}

fn whole(text: &str, digits: usize) -> Option<i64> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

fn nanoseconds(fraction: &str) -> Option<i64> {
    let is_number = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    is_number.then(|| digits.parse().ok())?
}

/// Seconds east of Greenwich. What stands behind a blank is a name for the same.
fn offset(zone: &str) -> Option<i64> {
    let zone = zone.trim_start();
    let zone = zone.split(' ').next().unwrap_or(zone);
    if matches!(zone, "Z" | "z" | "UTC") {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits = digits.replacen(':', "", 1);
    let number = whole(&digits, 4)?;
    let (hours, minutes) = (number / 100, number % 100);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a date of our calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leaps = before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    let months: i64 = (1..month).map(|month| length(year, month)).sum();
    // Day 719,162 of the calendar is the first of 1970.
    before * 365 + leaps + months + day - 1 - 719_162
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    #[test]
    fn times() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-03-01T00:00:00Z", Some(951_868_800)),
            ("2026-05-28T10:11:40Z", Some(1_779_963_100)),
            ("2026-05-28T12:11:40+02:00", Some(1_779_963_100)),
            ("2026-05-28T05:41:40.999-04:30", Some(1_779_963_100)),
            ("2026-05-28 10:11:40.123456789 +0000 UTC", Some(1_779_963_100)),
            ("0001-01-01T00:00:00Z", Some(-62_135_596_800)),
            ("2026-02-29T00:00:00Z", None),
            ("2026-05-28T10:11:40", None),
            ("2026-05-28", None),
            ("2026-05-28T24:00:00Z", None),
            ("2026-05-28T10:11:40.Z", None),
            ("yesterday", None),
            ("", None),
        ] {
            let parsed = parse(text).map(|time| time.div_euclid(1_000_000_000));
            assert_eq!(parsed, seconds, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[0-9TZ:.+ -]{0,40}|\\PC*") {
            let _ = parse(&text);
        }
    }
}
