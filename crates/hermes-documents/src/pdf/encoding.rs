//! The encodings of simple fonts, and what the names of glyphs mean.

/// A byte as a character where a font says nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// As on Windows.
    WinAnsi,
    MacRoman,
    Standard,
}

impl Base {
    pub(super) fn of_name(name: &[u8]) -> Option<Self> {
        match name {
            b"WinAnsiEncoding" => Some(Self::WinAnsi),
            b"MacRomanEncoding" => Some(Self::MacRoman),
            b"StandardEncoding" => Some(Self::Standard),
            _ => None,
        }
    }

    pub(super) fn char(self, byte: u8) -> Option<char> {
        match (self, byte) {
            (_, 0x00..=0x1F) => None,
            (Self::Standard, b'\'') => Some('’'),
            (Self::Standard, b'`') => Some('‘'),
            (_, 0x20..=0x7E) => Some(char::from(byte)),
            (Self::WinAnsi, 0x80..=0x9F) => WIN_ANSI.chars().nth(usize::from(byte - 0x80)),
            (Self::WinAnsi, 0x7F) => Some('•'),
            (Self::WinAnsi, _) => Some(char::from(byte)),
            (Self::MacRoman, 0x80..) => MAC_ROMAN.chars().nth(usize::from(byte - 0x80)),
            (Self::Standard, 0xA1..) => STANDARD.chars().nth(usize::from(byte - 0xA1)),
            _ => None,
        }
        .filter(|&c| c != GAP)
    }
}

/// Stands in the tables below for what isn't there.
const GAP: char = '\0';

const WIN_ANSI: &str = "€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ";

const MAC_ROMAN: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø\
    ¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

const STANDARD: &str = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—\0\0\0\0\0\0\0\0\0\0\
    \0\0\0\0\0\0Æ\0ª\0\0\0\0ŁØŒº\0\0\0\0\0æ\0\0\0ı\0\0łøœß\0\0\0\0";

/// The text that a glyph of a name shows.
pub(super) fn glyph(name: &str) -> Option<String> {
    // What is behind a dot tells how it looks: `a.sc`.
    let name = name.split_once('.').map_or(name, |(before, _)| before);
    if let [c] = name.as_bytes()
        && c.is_ascii_alphabetic()
    {
        return Some(name.to_owned());
    }
    if let Ok(at) = NAMES.binary_search_by_key(&name, |(name, _)| name) {
        return NAMES.get(at).map(|(_, text)| (*text).to_owned());
    }
    if let Some(digits) = name.strip_prefix("uni")
        && digits.len() >= 4
        && digits.len() % 4 == 0
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
    {
        let units = digits.as_bytes().chunks(4).map(|unit| {
            u16::from_str_radix(std::str::from_utf8(unit).unwrap_or_default(), 16).unwrap_or(0xFFFD)
        });
        return String::from_utf16(&units.collect::<Vec<_>>()).ok();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).map(String::from)
}

/// Names of glyphs and what they show, by name.
#[rustfmt::skip]
const NAMES: &[(&str, &str)] = &[
    ("AE", "Æ"), ("Aacute", "Á"), ("Abreve", "Ă"), ("Acircumflex", "Â"), ("Adieresis", "Ä"),
    ("Agrave", "À"), ("Alpha", "Α"), ("Amacron", "Ā"), ("Aogonek", "Ą"), ("Aring", "Å"),
    ("Atilde", "Ã"), ("Beta", "Β"), ("Cacute", "Ć"), ("Ccaron", "Č"), ("Ccedilla", "Ç"),
    ("Chi", "Χ"), ("Dcaron", "Ď"), ("Dcroat", "Đ"), ("Delta", "Δ"), ("Eacute", "É"),
    ("Ecaron", "Ě"), ("Ecircumflex", "Ê"), ("Edieresis", "Ë"), ("Edotaccent", "Ė"),
    ("Egrave", "È"), ("Emacron", "Ē"), ("Eogonek", "Ę"), ("Epsilon", "Ε"), ("Eta", "Η"),
    ("Eth", "Ð"), ("Euro", "€"), ("Gamma", "Γ"), ("Gbreve", "Ğ"), ("Iacute", "Í"),
    ("Icircumflex", "Î"), ("Idieresis", "Ï"), ("Idotaccent", "İ"), ("Igrave", "Ì"),
    ("Imacron", "Ī"), ("Iota", "Ι"), ("Kappa", "Κ"), ("Lambda", "Λ"), ("Lcaron", "Ľ"),
    ("Lslash", "Ł"), ("Mu", "Μ"), ("Nacute", "Ń"), ("Ncaron", "Ň"), ("Ntilde", "Ñ"), ("Nu", "Ν"),
    ("OE", "Œ"), ("Oacute", "Ó"), ("Ocircumflex", "Ô"), ("Odieresis", "Ö"), ("Ograve", "Ò"),
    ("Ohungarumlaut", "Ő"), ("Omacron", "Ō"), ("Omega", "Ω"), ("Omicron", "Ο"), ("Oslash", "Ø"),
    ("Otilde", "Õ"), ("Phi", "Φ"), ("Pi", "Π"), ("Psi", "Ψ"), ("Rcaron", "Ř"), ("Rho", "Ρ"),
    ("Sacute", "Ś"), ("Scaron", "Š"), ("Scedilla", "Ş"), ("Sigma", "Σ"), ("Tau", "Τ"),
    ("Tcaron", "Ť"), ("Theta", "Θ"), ("Thorn", "Þ"), ("Uacute", "Ú"), ("Ucircumflex", "Û"),
    ("Udieresis", "Ü"), ("Ugrave", "Ù"), ("Uhungarumlaut", "Ű"), ("Umacron", "Ū"),
    ("Upsilon", "Υ"), ("Uring", "Ů"), ("Xi", "Ξ"), ("Yacute", "Ý"), ("Ydieresis", "Ÿ"),
    ("Zacute", "Ź"), ("Zcaron", "Ž"), ("Zdotaccent", "Ż"), ("Zeta", "Ζ"), ("aacute", "á"),
    ("abreve", "ă"), ("acircumflex", "â"), ("acute", "´"), ("adieresis", "ä"), ("ae", "æ"),
    ("agrave", "à"), ("alpha", "α"), ("amacron", "ā"), ("ampersand", "&"), ("aogonek", "ą"),
    ("approxequal", "≈"), ("aring", "å"), ("arrowdown", "↓"), ("arrowleft", "←"),
    ("arrowright", "→"), ("arrowup", "↑"), ("asciicircum", "^"), ("asciitilde", "~"),
    ("asterisk", "*"), ("at", "@"), ("atilde", "ã"), ("backslash", "\\"), ("bar", "|"),
    ("beta", "β"), ("braceleft", "{"), ("braceright", "}"), ("bracketleft", "["),
    ("bracketright", "]"), ("breve", "˘"), ("brokenbar", "¦"), ("bullet", "•"), ("cacute", "ć"),
    ("caron", "ˇ"), ("ccaron", "č"), ("ccedilla", "ç"), ("cedilla", "¸"), ("cent", "¢"),
    ("chi", "χ"), ("circumflex", "ˆ"), ("colon", ":"), ("comma", ","), ("copyright", "©"),
    ("currency", "¤"), ("dagger", "†"), ("daggerdbl", "‡"), ("dcaron", "ď"), ("dcroat", "đ"),
    ("degree", "°"), ("delta", "δ"), ("dieresis", "¨"), ("divide", "÷"), ("dollar", "$"),
    ("dotaccent", "˙"), ("dotlessi", "ı"), ("eacute", "é"), ("ecaron", "ě"),
    ("ecircumflex", "ê"), ("edieresis", "ë"), ("edotaccent", "ė"), ("egrave", "è"),
    ("eight", "8"), ("element", "∈"), ("ellipsis", "…"), ("emacron", "ē"), ("emdash", "—"),
    ("emptyset", "∅"), ("endash", "–"), ("eogonek", "ę"), ("epsilon", "ε"), ("equal", "="),
    ("equivalence", "≡"), ("eta", "η"), ("eth", "ð"), ("exclam", "!"), ("exclamdown", "¡"),
    ("ff", "ff"), ("ffi", "ffi"), ("ffl", "ffl"), ("fi", "fi"), ("five", "5"), ("fl", "fl"),
    ("florin", "ƒ"), ("four", "4"), ("fraction", "⁄"), ("gamma", "γ"), ("gbreve", "ğ"),
    ("germandbls", "ß"), ("grave", "`"), ("greater", ">"), ("greaterequal", "≥"),
    ("guillemotleft", "«"), ("guillemotright", "»"), ("guilsinglleft", "‹"),
    ("guilsinglright", "›"), ("hungarumlaut", "˝"), ("hyphen", "-"), ("iacute", "í"),
    ("icircumflex", "î"), ("idieresis", "ï"), ("igrave", "ì"), ("imacron", "ī"),
    ("infinity", "∞"), ("integral", "∫"), ("intersection", "∩"), ("iota", "ι"), ("kappa", "κ"),
    ("lambda", "λ"), ("lcaron", "ľ"), ("less", "<"), ("lessequal", "≤"), ("logicalnot", "¬"),
    ("lslash", "ł"), ("macron", "¯"), ("minus", "−"), ("mu", "µ"), ("multiply", "×"),
    ("nabla", "∇"), ("nacute", "ń"), ("nbspace", "\u{a0}"), ("ncaron", "ň"), ("nine", "9"),
    ("notequal", "≠"), ("ntilde", "ñ"), ("nu", "ν"), ("numbersign", "#"), ("oacute", "ó"),
    ("ocircumflex", "ô"), ("odieresis", "ö"), ("oe", "œ"), ("ogonek", "˛"), ("ograve", "ò"),
    ("ohungarumlaut", "ő"), ("omacron", "ō"), ("omega", "ω"), ("omicron", "ο"), ("one", "1"),
    ("onehalf", "½"), ("onequarter", "¼"), ("onesuperior", "¹"), ("ordfeminine", "ª"),
    ("ordmasculine", "º"), ("oslash", "ø"), ("otilde", "õ"), ("paragraph", "¶"),
    ("parenleft", "("), ("parenright", ")"), ("partialdiff", "∂"), ("percent", "%"),
    ("period", "."), ("periodcentered", "·"), ("perthousand", "‰"), ("phi", "φ"), ("pi", "π"),
    ("plus", "+"), ("plusminus", "±"), ("product", "∏"), ("proportional", "∝"), ("psi", "ψ"),
    ("question", "?"), ("questiondown", "¿"), ("quotedbl", "\""), ("quotedblbase", "„"),
    ("quotedblleft", "“"), ("quotedblright", "”"), ("quoteleft", "‘"), ("quoteright", "’"),
    ("quotesinglbase", "‚"), ("quotesingle", "'"), ("radical", "√"), ("rcaron", "ř"),
    ("registered", "®"), ("rho", "ρ"), ("ring", "˚"), ("sacute", "ś"), ("scaron", "š"),
    ("scedilla", "ş"), ("section", "§"), ("semicolon", ";"), ("seven", "7"), ("sigma", "σ"),
    ("sigma1", "ς"), ("six", "6"), ("slash", "/"), ("space", " "), ("sterling", "£"),
    ("summation", "∑"), ("tau", "τ"), ("tcaron", "ť"), ("theta", "θ"), ("thorn", "þ"),
    ("three", "3"), ("threequarters", "¾"), ("threesuperior", "³"), ("tilde", "˜"),
    ("trademark", "™"), ("two", "2"), ("twosuperior", "²"), ("uacute", "ú"),
    ("ucircumflex", "û"), ("udieresis", "ü"), ("ugrave", "ù"), ("uhungarumlaut", "ű"),
    ("umacron", "ū"), ("underscore", "_"), ("union", "∪"), ("upsilon", "υ"), ("uring", "ů"),
    ("xi", "ξ"), ("yacute", "ý"), ("ydieresis", "ÿ"), ("yen", "¥"), ("zacute", "ź"),
    ("zcaron", "ž"), ("zdotaccent", "ż"), ("zero", "0"), ("zeta", "ζ"),
];

/// Widths of the characters from the blank to the tilde in thousandths of an em, for fonts that
/// every reader has and that files therefore don't describe.
#[rustfmt::skip]
pub(super) const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// The same of Times.
#[rustfmt::skip]
pub(super) const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500,
    500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611,
    556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722,
    722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500,
    278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn tables_have_the_right_length() {
        assert_eq!(WIN_ANSI.chars().count(), 0x20);
        assert_eq!(MAC_ROMAN.chars().count(), 0x80);
        assert_eq!(STANDARD.chars().count(), 0xFF - 0xA0);
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn bytes_and_names() {
        for (base, byte, expected) in [
            (Base::WinAnsi, 0x93, Some('“')),
            (Base::WinAnsi, 0xE9, Some('é')),
            (Base::MacRoman, 0x8E, Some('é')),
            (Base::MacRoman, 0xDE, Some('ﬁ')),
            (Base::Standard, 0xAE, Some('ﬁ')),
            (Base::Standard, 0xFB, Some('ß')),
            (Base::Standard, 0xE9, Some('Ø')),
            (Base::Standard, 0xD0, Some('—')),
            (Base::Standard, 0xB0, None),
            (Base::WinAnsi, 7, None),
        ] {
            assert_eq!(base.char(byte), expected, "{base:?} {byte:x}");
        }
        for (name, expected) in [
            ("A", Some("A")),
            ("eacute", Some("é")),
            ("ffi", Some("ffi")),
            ("uni00410042", Some("AB")),
            ("u1F600", Some("😀")),
            ("a.sc", Some("a")),
            ("g123", None),
            (".notdef", None),
            ("uniD800", None),
        ] {
            assert_eq!(glyph(name).as_deref(), expected, "{name}");
        }
    }
}
