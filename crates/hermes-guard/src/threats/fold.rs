//! The letters a reader sees.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::is_invisible;

/// How far a text is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Compatibility forms only (NFKC), with blanks for invisible characters.
    Compatible,
    /// Also accents and letters that look like Latin ones, without invisible characters.
    LookAlikes,
}

/// Letters of other alphabets, and odd Latin ones, by the letter they look like. A skeleton that
/// is made for comparing names (UTS 39) would turn `m` into `rn` and could not be read.
const LOOK_ALIKES: [(char, &str); 26] = [
    ('a', "аɑαᴀ⍺АΑᎪ"),
    ('b', "ЬвʙВΒᏴƅ"),
    ('c', "сϲᴄСϹᏟⅽ"),
    ('d', "ԁɗᴅᎠđժ"),
    ('e', "еєҽεᴇЕΕᎬ"),
    ('f', "ƒꬵϝք"),
    ('g', "ɡցɢԌᏀƍ"),
    ('h', "һհнʜНΗᎻħ"),
    ('i', "іıɩιɪІΙӏᎥǀ"),
    ('j', "јϳᴊЈᎫյ"),
    ('k', "кκᴋКΚᏦ"),
    ('l', "ʟłӀᏞⅼ"),
    ('m', "мᴍМΜᎷ"),
    ('n', "ոηпɴΝռ"),
    ('o', "оοօσᴏОΟՕøഠ"),
    ('p', "рρᴘРΡᏢ"),
    ('q', "ԛզգ"),
    ('r', "гʀᴦᎡᏒ"),
    ('s', "ѕꜱЅᏚʂ"),
    ('t', "тτᴛТΤᎢ"),
    ('u', "սυᴜцՍʋ"),
    ('v', "νѵᴠᏙѴ"),
    ('w', "ԝωᴡѡᎳԜ"),
    ('x', "хχХΧ"),
    ('y', "уγʏУΥүҮ"),
    ('z', "ᴢΖᏃʐ"),
];

static LATIN: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let pairs = LOOK_ALIKES.iter().flat_map(|(latin, others)| others.chars().map(|c| (c, *latin)));
    pairs.collect()
});

/// The text as a reader sees it.
pub(super) fn fold(text: &str, fold: Fold) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    match fold {
        Fold::Compatible => {
            let visible = text.chars().map(|c| if is_invisible(c) { ' ' } else { c });
            Cow::Owned(visible.nfkc().collect())
        }
        Fold::LookAlikes => {
            let visible = text.chars().filter(|c| !is_invisible(*c));
            let bare = visible.nfkd().filter(|c| !is_combining_mark(*c));
            Cow::Owned(bare.map(|c| LATIN.get(&c).copied().unwrap_or(c)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters() {
        assert_eq!(fold("іgnоrе аll", Fold::LookAlikes), "ignore all");
        assert_eq!(fold("ｉｇｎｏｒｅ", Fold::Compatible), "ignore");
        assert_eq!(fold("ígn\u{308}öre", Fold::LookAlikes), "ignore");
        assert_eq!(fold("ig\u{200B}nore", Fold::LookAlikes), "ignore");
        assert_eq!(fold("a\u{200B}b", Fold::Compatible), "a b");
        assert!(matches!(fold("ignore", Fold::LookAlikes), Cow::Borrowed(_)));
    }
}
