//! The valid name nearest to a mistyped one: `terminl` means `terminal`.

use strsim::damerau_levenshtein;

/// Names longer than this are not compared: the distance costs the product of both lengths.
const MAX_CHARS: usize = 96;

/// Shorter names match everything by prefix or by containment.
const MIN_PART: usize = 3;

/// How a candidate resembles the name; the derived order is the order of preference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// The same but for case, surrounding blanks and `-` against `_`.
    Spelling,
    /// A few typing slips; the number of them.
    Slips(usize),
    /// One begins with the other; the number of characters missing.
    Prefix(usize),
    /// One contains the other; the number of characters missing.
    Part(usize),
}

/// The candidate nearest to `name`, or none if nothing resembles it.
///
/// Ties go to the candidate that sorts first, so the order of `candidates` does not matter. A
/// candidate equal to `name` is its own nearest.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = fold(name)?;
    candidates
        .into_iter()
        .filter_map(|candidate| Some((likeness(&name, candidate)?, candidate)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Up to `limit` candidates that resemble `name`, nearest first, each once.
#[must_use]
pub fn nearest_n<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let Some(name) = fold(name) else { return Vec::new() };
    let mut ranked: Vec<_> = candidates
        .into_iter()
        .filter_map(|candidate| Some((likeness(&name, candidate)?, candidate)))
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(limit).map(|(_, candidate)| candidate).collect()
}

/// The form names are compared in; none for names too short or too long to compare.
fn fold(name: &str) -> Option<String> {
    let name = name.trim();
    let fits = !name.is_empty() && name.chars().take(MAX_CHARS + 1).count() <= MAX_CHARS;
    fits.then(|| name.to_lowercase().replace('-', "_"))
}

fn likeness(name: &str, candidate: &str) -> Option<Likeness> {
    let candidate = fold(candidate)?;
    if name == candidate {
        return Some(Likeness::Spelling);
    }
    let (name_chars, candidate_chars) = (name.chars().count(), candidate.chars().count());
    let shorter = name_chars.min(candidate_chars);
    let missing = name_chars.abs_diff(candidate_chars);
    // A third of the shorter name may be wrong, and one character of a name as short as `tts`.
    let allowed = if shorter < MIN_PART { 0 } else { (shorter / 3).max(1) };
    if missing <= allowed {
        let slips = damerau_levenshtein(name, &candidate);
        if slips <= allowed {
            return Some(Likeness::Slips(slips));
        }
    }
    if shorter < MIN_PART {
        None
    } else if name.starts_with(&candidate) || candidate.starts_with(name) {
        Some(Likeness::Prefix(missing))
    } else if name.contains(&candidate) || candidate.contains(name) {
        Some(Likeness::Part(missing))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 8] =
        ["web", "terminal", "browser", "web_search", "tts", "todo", "hermes-cli", "hermes-cron"];

    #[test]
    fn a_slip_beats_a_prefix_and_a_prefix_beats_a_part() {
        let check = |name, expected| assert_eq!(nearest(name, NAMES), expected, "{name}");
        check("terminl", Some("terminal"));
        check("Web", Some("web"));
        check(" web", Some("web"));
        check("web-search", Some("web_search"));
        check("wbe", Some("web"));
        check("brows", Some("browser"));
        check("search", Some("web_search"));
        check("hermes", Some("hermes-cli"));
        check("hermes_cli", Some("hermes-cli"));
        check("xyzzy", None);
        check("", None);
        check("t", None);
    }

    #[test]
    fn the_order_of_candidates_does_not_matter() {
        let forth = nearest_n("tool_c", ["tool_b", "tool_a", "tool_a"], 5);
        let back = nearest_n("tool_c", ["tool_a", "tool_b"], 5);
        assert_eq!(forth, ["tool_a", "tool_b"]);
        assert_eq!(forth, back);
        assert_eq!(nearest_n("tool_c", ["tool_a", "tool_b"], 1), ["tool_a"]);
    }

    #[test]
    fn a_hostile_name_is_not_compared() {
        let long = "a".repeat(1_000_000);
        assert_eq!(nearest(&long, NAMES), None);
        assert_eq!(nearest("web", [long.as_str()]), None);
        assert_eq!(nearest("日本", ["日本語", "語"]), None);
    }
}
