//! Where a cell is: `AB12`.

/// Column and row, both from 0 on, of a reference such as `A1` or `$A$1`.
pub(super) fn place(reference: &str) -> Option<(usize, usize)> {
    let reference = reference.trim();
    let mut column = 0_usize;
    let mut letters = 0;
    let mut rest = reference.strip_prefix('$').unwrap_or(reference);
    while let Some(letter) = rest.chars().next().filter(char::is_ascii_alphabetic) {
        letters += 1;
        if letters > 4 {
            return None;
        }
        let digit = (letter.to_ascii_uppercase() as usize) - ('A' as usize) + 1;
        column = column * 26 + digit;
        rest = rest.get(1..).unwrap_or_default();
    }
    let rest = rest.strip_prefix('$').unwrap_or(rest);
    let row: usize = rest.parse().ok().filter(|_| rest.bytes().all(|b| b.is_ascii_digit()))?;
    Some((column.checked_sub(1)?, row.checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn references() {
        for (reference, expected) in [
            ("A1", Some((0, 0))),
            ("z9", Some((25, 8))),
            ("AA10", Some((26, 9))),
            ("$XFD$1048576", Some((16383, 1_048_575))),
            ("A0", None),
            ("1", None),
            ("A", None),
            ("A+1", None),
            ("ABCDE1", None),
            ("Ä1", None),
            ("", None),
        ] {
            assert_eq!(place(reference), expected, "{reference}");
        }
    }
}
