//! Dates: days since a first one, with the time as their fraction.

/// What a format shows of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    Date,
    Time,
    DateTime,
    /// A span of time, which may have more than 24 hours.
    Elapsed,
}

const DAY: i64 = 24 * 60 * 60;

impl Shows {
    /// What a built-in format shows.
    pub(super) const fn by_id(id: usize) -> Option<Self> {
        match id {
            // 27 and on are those of East Asian languages.
            14..=17 | 27..=31 | 36 | 50..=58 => Some(Self::Date),
            18..=21 | 32..=35 | 45 | 47 => Some(Self::Time),
            22 => Some(Self::DateTime),
            46 => Some(Self::Elapsed),
            _ => None,
        }
    }

    /// What a format that is written out shows.
    pub(super) fn by_code(code: &str) -> Option<Self> {
        let (mut day, mut month, mut clock) = (false, false, false);
        let mut chars = code.chars();
        while let Some(c) = chars.next() {
            match c.to_ascii_lowercase() {
                // Only the first section: the others are for negative numbers and texts.
                ';' => break,
                '"' => {
                    let _ = chars.find(|&c| c == '"');
                }
                '\\' | '_' | '*' => {
                    chars.next();
                }
                '[' => {
                    let inside: String = chars.by_ref().take_while(|&c| c != ']').collect();
                    let inside = inside.to_ascii_lowercase();
                    let units = inside.bytes().all(|b| inside.as_bytes().first() == Some(&b));
                    if units && inside.starts_with(['h', 'm', 's']) {
                        return Some(Self::Elapsed);
                    }
                }
                'y' | 'd' => day = true,
                'm' => month = true,
                'h' | 's' => clock = true,
                // Numbers.
                '0' | '#' | '?' | '@' if !(day || month || clock) => return None,
                // "General" has none of the letters above.
                _ => {}
            }
        }
        match (day, month, clock) {
            (true, _, true) => Some(Self::DateTime),
            (true, _, false) | (false, true, false) => Some(Self::Date),
            (false, _, true) => Some(Self::Time),
            (false, false, false) => None,
        }
    }

    /// A number of days as text; none when there is no such date.
    pub(super) fn text(self, days: f64, starts_1904: bool) -> Option<String> {
        // The year 9999 ends there.
        if !(0.0..2_958_466.0).contains(&days) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range was just checked")]
        let seconds = (days * DAY as f64).round() as i64;
        let (day, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let time = format!("{hour:02}:{minute:02}:{second:02}");
        match self {
            Self::Time => Some(time),
            Self::Elapsed => Some(format!("{}:{minute:02}:{second:02}", seconds / 3600)),
            Self::Date => date(day, starts_1904),
            Self::DateTime => Some(format!("{} {time}", date(day, starts_1904)?)),
        }
    }
}

/// A date by its number.
fn date(day: i64, starts_1904: bool) -> Option<String> {
    // Days from 1970-01-01 on.
    let day = match day {
        _ if starts_1904 => day - 24_107,
        // Excel counts a day that 1900 didn't have.
        60 => return Some("1900-02-29".to_owned()),
        0..60 => day - 25_568,
        _ => day - 25_569,
    };
    // Years begin in March, so that the day that comes and goes is their last one.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (0..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{of_month:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn formats() {
        for (code, expected) in [
            ("yyyy-mm-dd", Some(Shows::Date)),
            ("mmm", Some(Shows::Date)),
            ("h:mm AM/PM", Some(Shows::Time)),
            ("mm:ss.0", Some(Shows::Time)),
            ("[$-409]d/m/yy h:mm;@", Some(Shows::DateTime)),
            ("[h]:mm:ss", Some(Shows::Elapsed)),
            ("[hh]:mm", Some(Shows::Elapsed)),
            ("[Red]0.00", None),
            ("General", None),
            ("0.00E+00", None),
            ("#,##0 \"days\"", None),
            ("\"d\"0", None),
            ("\\d0", None),
            ("_d0_)", None),
            ("@", None),
            ("", None),
        ] {
            assert_eq!(Shows::by_code(code), expected, "{code}");
        }
    }

    #[test]
    fn numbers_as_dates() {
        let text = |shows: Shows, days| shows.text(days, false).unwrap();
        for (days, expected) in [
            (0.0, "1899-12-31"),
            (1.0, "1900-01-01"),
            (59.0, "1900-02-28"),
            (60.0, "1900-02-29"),
            (61.0, "1900-03-01"),
            (25569.0, "1970-01-01"),
            (36585.0, "2000-02-29"),
            (45306.75, "2024-01-15"),
            (2_958_465.0, "9999-12-31"),
        ] {
            assert_eq!(text(Shows::Date, days), expected);
        }
        assert_eq!(text(Shows::DateTime, 45306.75), "2024-01-15 18:00:00");
        assert_eq!(text(Shows::Time, 0.5), "12:00:00");
        assert_eq!(text(Shows::Elapsed, 2.5), "60:00:00");
        // Rounding goes over midnight.
        assert_eq!(text(Shows::DateTime, 45_305.999_999_9), "2024-01-15 00:00:00");
        assert_eq!(Shows::Date.text(0.0, true).unwrap(), "1904-01-01");
        for days in [-1.0, 3e6, f64::NAN, f64::INFINITY] {
            assert_eq!(Shows::Date.text(days, false), None);
        }
    }
}
