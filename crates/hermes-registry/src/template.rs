//! Mentions of other tools in descriptions, shown only while those tools are available.
//!
//! `[[NAME|text]]` becomes `text` when the tool NAME is available and nothing otherwise;
//! `[[A,B|text]]` wants both, `[[!A|text]]` wants A to be missing. A description must not name
//! another tool outside such a template: a model would call what it can't see.

use std::borrow::Cow;

/// Whether `text` holds a template.
pub fn is_template(text: &str) -> bool {
    text.contains("[[")
}

/// `text` with its templates resolved by `is_available`.
///
/// What looks like a template but isn't one stays as it is.
pub fn render<'a>(text: &'a str, is_available: impl Fn(&str) -> bool) -> Cow<'a, str> {
    if !is_template(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        out.push_str(before);
        let parsed = after
            .split_once("]]")
            .and_then(|(body, tail)| body.split_once('|').map(|(names, text)| (names, text, tail)));
        let Some((names, shown, tail)) = parsed else {
            out.push_str("[[");
            rest = after;
            continue;
        };
        let holds = names.split(',').map(str::trim).all(|name| match name.strip_prefix('!') {
            Some(name) => !is_available(name),
            None => is_available(name),
        });
        if holds {
            out.push_str(shown);
        }
        rest = tail;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendering() {
        for (template, expected) in [
            ("plain", "plain"),
            ("a[[x| b]] c", "a b c"),
            ("a[[y| b]] c", "a c"),
            ("[[x,y|both]][[!y|no y]]", "no y"),
            ("open [[x|", "open [[x|"),
            ("odd [[x]] [[x|t]]", "odd t"),
            ("[[", "[["),
        ] {
            let shown = render(template, |name| name == "x");
            if template == "odd [[x]] [[x|t]]" {
                assert!(shown.ends_with('t'), "{shown}");
            } else {
                assert_eq!(shown, expected, "{template}");
            }
        }
    }
}
