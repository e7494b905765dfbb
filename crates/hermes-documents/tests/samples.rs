//! Files that other programs wrote, and files that nobody should have written.

#![cfg(all(feature = "office", feature = "pdf"))]
#![expect(clippy::unwrap_used, reason = "helpers of tests aren't seen as tests")]

use hermes_documents::{Document, ExtractError, Kind, Options, extract};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

const WORD: &[u8] = include_bytes!("data/word.docx");
const EXCEL: &[u8] = include_bytes!("data/excel.xlsx");
const SLIDES: &[u8] = include_bytes!("data/slides.pptx");
const TEXT: &[u8] = include_bytes!("data/text.odt");
const REPORT: &[u8] = include_bytes!("data/report.pdf");
/// The same with its objects in a compressed stream.
const PACKED: &[u8] = include_bytes!("data/objstm.pdf");

const SAMPLES: [(&str, &[u8]); 6] = [
    ("word.docx", WORD),
    ("excel.xlsx", EXCEL),
    ("slides.pptx", SLIDES),
    ("text.odt", TEXT),
    ("report.pdf", REPORT),
    ("objstm.pdf", PACKED),
];

fn read(name: &str, bytes: &[u8]) -> Result<Document, ExtractError> {
    extract(name, bytes, Options::default()).unwrap()
}

fn text(name: &str, bytes: &[u8]) -> String {
    let document = read(name, bytes).unwrap();
    assert!(document.omitted.is_empty(), "{:?}", document.omitted);
    document.text
}

#[test]
fn word() {
    assert_eq!(
        text("word.docx", WORD),
        "# Report\n# First part\nPlain bold\tafter a tab\nAn item\n\n| Name | Value |\n| --- | --- |\n\
         | a\\|b | 1<br>2 |\n\n## Second part\nGröße: 10 €"
    );
}

#[test]
fn excel() {
    assert_eq!(
        text("excel.xlsx", EXCEL),
        "# ── Sheet: Data ──\nname\tn\twhen\tok\na\t1.5\t2024-01-15\tTRUE\n\
         b\t\t2024-02-29 13:45:00\tFALSE\n\n08:30:00\t30:00:00\t\t\t\t=SUM(B2:B3)\n\n\
         # ── Sheet: Empty ──\n(empty)"
    );
}

#[test]
fn slides() {
    assert_eq!(
        text("slides.pptx", SLIDES),
        "# ── Slide 1 ──\n## Plans\nOne\nTwo\n# ── Notes ──\nSay hello\n\n# ── Slide 2 ──\n## Table\n\n\
         | 00 | 01 |\n| --- | --- |\n| 10 | 11 |"
    );
}

#[test]
fn open_document() {
    assert_eq!(
        text("text.odt", TEXT),
        "# Heading\nA paragraph with two blanks\n\n| 00 | 01 |\n| --- | --- |\n| 10 | 11 |\n\nEnd"
    );
}

#[test]
fn pdf() {
    let expected = "# ── Page 1 ──\nThe Title\n\
        A first paragraph that is long enough to be broken over several lines, since it goes on and \
        on with\nwords such as \"naïve café\" and (brackets) until there is no more to say.\n\
        Name\tValue\nalpha\t1\nbeta\t22\n\n# ── Page 2 ──\nSecond page\nText on it.";
    assert_eq!(text("report.pdf", REPORT), expected);
    assert_eq!(text("objstm.pdf", PACKED), expected);
}

#[test]
fn files_that_break_off_are_no_text_or_less_of_it() {
    for (name, bytes) in SAMPLES {
        for len in (0..bytes.len()).step_by(97) {
            let result = read(name, &bytes[..len]);
            assert!(name.ends_with(".pdf") || result.is_err(), "{name} {len}");
        }
    }
}

#[test]
fn a_file_of_another_kind_is_an_error() {
    for (name, _) in SAMPLES {
        for (other, bytes) in SAMPLES {
            let same = Kind::of_name(name) == Kind::of_name(other);
            assert_eq!(read(name, bytes).is_ok(), same, "{other} as {name}");
        }
    }
}

proptest! {
    #[test]
    fn damage_never_panics(
        sample in 0..SAMPLES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let (name, bytes) = SAMPLES[sample];
        let mut bytes = bytes.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read(name, &bytes);
    }

    #[test]
    fn noise_never_panics(
        kind in 0..Kind::ALL.len(),
        mut bytes in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        let kind = Kind::ALL[kind];
        let name = format!("x.{}", kind.extension());
        let _ = read(&name, &bytes);
        let head: &[u8] = if kind == Kind::Pdf { b"%PDF-1.4\n1 0 obj\n" } else { b"PK\x03\x04" };
        bytes.splice(0..0, head.iter().copied());
        let _ = read(&name, &bytes);
    }

    /// Words of the language of PDF in any order.
    #[test]
    fn nonsense_in_pdf_never_panics(
        words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..300),
    ) {
        let text = format!("%PDF-1.4\n{}", words.join(" "));
        let _ = read("x.pdf", text.as_bytes());
    }
}

const WORDS: [&str; 52] = [
    "1 0 obj",
    "2 0 obj",
    "3 0 obj",
    "endobj",
    "<<",
    ">>",
    "[",
    "]",
    "/Type",
    "/Pages",
    "/Page",
    "/Catalog",
    "/Kids",
    "/Contents",
    "/Resources",
    "/Font",
    "/F",
    "/Widths",
    "/W",
    "/Filter",
    "/FlateDecode",
    "/LZWDecode",
    "/ASCII85Decode",
    "/ObjStm",
    "/N",
    "/First",
    "/Length",
    "/XObject",
    "/Subtype",
    "/Form",
    "/Type0",
    "/ToUnicode",
    "/Encoding",
    "/Differences",
    "stream",
    "endstream",
    "trailer",
    "/Root",
    "1 0 R",
    "2 0 R",
    "3 0 R",
    "BT",
    "ET",
    "/F 1 Tf",
    "(text) Tj",
    "[(a) 9e9 (b)] TJ",
    "/F Do",
    "-1",
    "99999999999",
    "<41>",
    "beginbfrange",
    "endbfrange",
];
