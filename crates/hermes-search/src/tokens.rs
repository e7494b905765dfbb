//! Splitting names, descriptions and queries into search tokens.
//!
//! Text is brought to Unicode form NFKC, split at everything that isn't a letter, a digit or a
//! mark, lower-cased, and stripped of accents, so that `thoi tiet` finds `Thời tiết`. Words that
//! are written without blanks between them (Chinese, Japanese, Korean, Thai and their like) become
//! pairs of neighbouring characters. `getUserName` is one word and also its three parts.

use std::borrow::Cow;
use std::mem;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The part that a token plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A word, or a pair of characters in a script without blanks: what a length counts.
    Word,
    /// Another way to find a word: a part of a camel-case word, or its spelling with accents.
    Alias,
    /// One character out of a longer run in a script without blanks. It serves queries of one
    /// character; a longer query that used it would match nearly everything.
    Single,
}

/// Calls `emit` for every token of `text`, in order.
pub(super) fn each_token(text: &str, mut emit: impl FnMut(&str, Role)) {
    // Most text is plain, and then no character needs a closer look.
    if text.is_ascii() {
        text.split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|run| !run.is_empty())
            .for_each(|run| word(run, &mut emit));
        return;
    }
    let mut run = String::new();
    let mut class = Class::Separator;
    for c in text.nfkc().filter(|c| !is_ignorable(*c)) {
        let next = match Class::of(c) {
            // A mark belongs to the character before it.
            Class::Mark if run.is_empty() => Class::Separator,
            Class::Mark => class,
            other => other,
        };
        if next != class {
            flush(&mut run, class, &mut emit);
            class = next;
        }
        if class != Class::Separator {
            run.push(c);
        }
    }
    flush(&mut run, class, &mut emit);
}

/// Lower-cases `text` and drops accents and other differences that shouldn't matter to a search.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !is_accent(*c) && !is_ignorable(*c)) {
        for lower in c.to_lowercase() {
            match lower {
                'đ' | 'ð' => folded.push('d'),
                'ø' => folded.push('o'),
                'ł' => folded.push('l'),
                'ħ' => folded.push('h'),
                'ŧ' => folded.push('t'),
                'ı' => folded.push('i'),
                'ς' => folded.push('σ'),
                'ß' => folded.push_str("ss"),
                'æ' => folded.push_str("ae"),
                'œ' => folded.push_str("oe"),
                'þ' => folded.push_str("th"),
                other => folded.push(other),
            }
        }
    }
    // Put together again what isn't an accent: Hangul syllables, voiced kana.
    Cow::Owned(folded.nfc().collect())
}

/// Other grammatical numbers that `word` may stand for: singulars of a plural, plurals of a
/// singular. Not all are words; they are only looked up.
pub(super) fn number_variants(word: &str) -> Vec<String> {
    // `news` is no plural of `new`.
    let inflected = word.len() >= 3
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && !["new", "news"].contains(&word);
    if !inflected {
        return Vec::new();
    }
    let hisses =
        |stem: &str| ["s", "x", "z", "ch", "sh", "o"].iter().any(|end| stem.ends_with(end));
    let mut variants = Vec::new();
    if let Some(stem) = word.strip_suffix("ies") {
        variants.push(format!("{stem}y"));
    }
    if let Some(stem) = word.strip_suffix("es")
        && hisses(stem)
    {
        variants.push(stem.to_owned());
    }
    if let Some(stem) = word.strip_suffix('s')
        && stem.len() >= 3
        && !stem.ends_with('s')
    {
        variants.push(stem.to_owned());
    }
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => {
            variants.push(format!("{stem}ies"));
        }
        _ => {
            if hisses(word) {
                variants.push(format!("{word}es"));
            }
            if !word.ends_with('s') {
                variants.push(format!("{word}s"));
            }
        }
    }
    variants
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Separator,
    Mark,
    /// Letters and digits of scripts that put blanks between words.
    Spaced,
    /// Letters of scripts that don't.
    Unspaced,
}

impl Class {
    fn of(c: char) -> Self {
        if is_combining_mark(c) {
            Self::Mark
        } else if !c.is_alphanumeric() {
            Self::Separator
        } else if is_unspaced(c) {
            Self::Unspaced
        } else {
            Self::Spaced
        }
    }
}

fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'      // Thai, Lao
        | '\u{1000}'..='\u{109F}'    // Myanmar
        | '\u{1100}'..='\u{11FF}'    // Hangul jamo
        | '\u{1780}'..='\u{17FF}'    // Khmer
        | '\u{3005}'..='\u{3007}'    // Han iteration mark and zero
        | '\u{3041}'..='\u{31FF}'    // kana, bopomofo, compatibility jamo
        | '\u{3400}'..='\u{4DBF}'    // Han
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7FF}'    // Hangul syllables
        | '\u{F900}'..='\u{FAFF}'    // Han compatibility
        | '\u{20000}'..='\u{3FFFF}') // Han
}

fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}'
        | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}'
        | '\u{FE20}'..='\u{FE2F}')
}

/// Invisible inside a word: soft hyphen, joiners, byte order mark.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}' | '\u{FEFF}')
}

fn flush(run: &mut String, class: Class, emit: &mut impl FnMut(&str, Role)) {
    if run.is_empty() {
        return;
    }
    if class == Class::Unspaced {
        pairs(run, emit);
    } else {
        word(run, emit);
    }
    run.clear();
}

fn word(word: &str, emit: &mut impl FnMut(&str, Role)) {
    let folded = fold(word);
    emit(&folded, Role::Word);
    if !word.is_ascii() {
        let lower = word.to_lowercase();
        if lower != *folded {
            emit(&lower, Role::Alias);
        }
    }
    // What folding left alone has no capitals.
    if matches!(folded, Cow::Borrowed(_)) || !word.chars().any(char::is_uppercase) {
        return;
    }
    let parts = camel_parts(word);
    if parts.len() > 1 {
        // A lone letter, as in `iPhone`, would match anything.
        for part in parts.iter().filter(|part| part.chars().nth(1).is_some()) {
            emit(&fold(part), Role::Alias);
        }
    }
}

/// Splits `parseHTTPReply` into `parse`, `HTTP`, `Reply`.
pub(crate) fn camel_parts(word: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut previous: Option<char> = None;
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        let starts = c.is_uppercase()
            && previous.is_some_and(|p| {
                p.is_lowercase()
                    || p.is_numeric()
                    || (p.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase()))
            });
        if starts {
            parts.push(mem::take(&mut part));
        }
        part.push(c);
        previous = Some(c);
    }
    parts.push(part);
    parts
}

fn pairs(run: &str, emit: &mut impl FnMut(&str, Role)) {
    let folded = fold(run);
    let mut chars = folded.chars();
    let Some(mut left) = chars.next() else { return };
    let mut token = String::from(left);
    if chars.as_str().is_empty() {
        emit(&token, Role::Word);
        return;
    }
    emit(&token, Role::Single);
    for right in chars {
        token.clear();
        token.push(right);
        emit(&token, Role::Single);
        token.insert(0, left);
        emit(&token, Role::Word);
        left = right;
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    /// Words first, then aliases and single characters.
    fn tokens(text: &str) -> (Vec<String>, Vec<String>) {
        let (mut words, mut others) = (Vec::new(), Vec::new());
        each_token(text, |token, role| match role {
            Role::Word => words.push(token.to_owned()),
            Role::Alias | Role::Single => others.push(token.to_owned()),
        });
        (words, others)
    }

    fn check(text: &str, words: &[&str], others: &[&str]) {
        let (actual_words, actual_others) = tokens(text);
        assert_eq!(actual_words, words, "{text}");
        assert_eq!(actual_others, others, "{text}");
    }

    #[test]
    fn words_of_spaced_scripts() {
        check("mcp__gh.list-PRS:v2", &["mcp", "gh", "list", "prs", "v2"], &[]);
        check("!!! ???", &[], &[]);
        check("ＷＥＡＴＨＥＲ ﬁle", &["weather", "file"], &[]);
        check("STRASSE", &["strasse"], &[]);
        check("Straße", &["strasse"], &["straße"]);
        check("so\u{AD}ft", &["soft"], &[]);
        check("हिन्दी", &["हिन्दी"], &[]);
    }

    #[test]
    fn accents() {
        check("Thời tiết", &["thoi", "tiet"], &["thời", "tiết"]);
        check("Tho\u{31B}\u{300}i", &["thoi"], &["thời"]);
        check("ĐÀ NẴNG", &["da", "nang"], &["đà", "nẵng"]);
        check("İstanbul", &["istanbul"], &["i\u{307}stanbul"]);
    }

    #[test]
    fn camel_case() {
        check("getUserName", &["getusername"], &["get", "user", "name"]);
        check("parseHTTPReply", &["parsehttpreply"], &["parse", "http", "reply"]);
        check("s3Upload", &["s3upload"], &["s3", "upload"]);
        check("iPhone SQL Open", &["iphone", "sql", "open"], &["phone"]);
    }

    #[test]
    fn unspaced_scripts() {
        check("天气", &["天气"], &["天", "气"]);
        check("雨", &["雨"], &[]);
        check("GitHub仓库x", &["github", "仓库", "x"], &["git", "hub", "仓", "库"]);
        check("ガイド", &["ガイ", "イド"], &["ガ", "イ", "ド"]);
        check("한국", &["한국"], &["한", "국"]);
    }

    #[test]
    fn numbers_of_nouns() {
        let check = |plural: &str, singular: &str| {
            assert!(number_variants(plural).contains(&singular.to_owned()), "{plural}");
            assert!(number_variants(singular).contains(&plural.to_owned()), "{singular}");
        };
        for (plural, singular) in [
            ("issues", "issue"),
            ("queries", "query"),
            ("movies", "movie"),
            ("branches", "branch"),
            ("caches", "cache"),
            ("boxes", "box"),
            ("addresses", "address"),
            ("statuses", "status"),
            ("keys", "key"),
            ("apis", "api"),
        ] {
            check(plural, singular);
        }
        for word in ["news", "new", "as", "天气", "v2s"] {
            assert_eq!(number_variants(word), Vec::<String>::new(), "{word}");
        }
        assert!(!number_variants("address").contains(&"addres".to_owned()));
    }

    proptest! {
        #[test]
        fn tokens_are_never_empty_and_folding_is_stable(text in "\\PC{0,40}") {
            each_token(&text, |token, _| assert!(!token.is_empty()));
            let folded = fold(&text).into_owned();
            let again = fold(&folded).into_owned();
            prop_assert_eq!(folded, again);
        }
    }
}
