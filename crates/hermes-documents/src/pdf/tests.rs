//! Whole files, put together here.

use super::extract;
use crate::document::{Document, ExtractError};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pretty_assertions::assert_eq;
use std::io::Write;

/// A file of objects, numbered from 1 on; the first is the catalog and the second the pages.
fn file(objects: &[&str]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    for (index, object) in objects.iter().enumerate() {
        out.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", index + 1).as_bytes());
    }
    out.extend_from_slice(b"trailer\n<</Root 1 0 R>>\n");
    out
}

fn stream(dict: &str, data: &str) -> String {
    format!("<<{dict}/Length {}>>stream\n{data}\nendstream", data.len())
}

/// A page with a content and what it refers to; more objects have numbers from 5 on.
fn page(resources: &str, content: &str, more: &[&str]) -> Vec<u8> {
    let (page, content) = (
        format!("<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<<{resources}>>>>"),
        stream("", content),
    );
    let mut objects =
        vec!["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>", &page, &content];
    objects.extend(more);
    file(&objects)
}

const HELVETICA: &str = "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>";

fn read(bytes: &[u8]) -> Document {
    extract(bytes).unwrap()
}

fn check(bytes: &[u8], expected: &str) {
    assert_eq!(read(bytes).text, format!("# ── Page 1 ──\n{expected}"));
}

#[test]
fn operators_place_text() {
    check(
        &page(
            HELVETICA,
            "BT /F 10 Tf 14 TL 100 700 Td (one) Tj T* (two) Tj (three) ' 1 2 (four) \" 0 -20 TD \
             [(f) -20 (i) 10 (ve) -400 (six)] TJ 1 0 0 1 300 500 Tm (seven) Tj ET \
             q 1 0 0 -1 0 800 cm BT /F 10 Tf 1 0 0 -1 10 20 Tm (eight) Tj ET Q",
            &[],
        ),
        "one\ntwo\nthree\nfour\nfive six\nseven\neight",
    );
}

#[test]
fn fonts_say_what_codes_show() {
    let map = stream(
        "",
        "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0001> <0003> <0410> \
         endbfrange",
    );
    check(
        &page(
            "/Font<</A 5 0 R/B 6 0 R>>",
            "BT /A 10 Tf (\\001\\002\\351) Tj 0 -20 Td /B 10 Tf <000100020003> Tj ET",
            &[
                "<</Subtype/Type1/Encoding<</Differences[1/fi/Euro]/BaseEncoding/WinAnsiEncoding>>>>",
                "<</Subtype/Type0/Encoding/Identity-H/ToUnicode 7 0 R/DescendantFonts[<</DW 500>>]>>",
                &map,
            ],
        ),
        "fi€é\nАБВ",
    );
}

#[test]
fn forms_are_followed_with_an_end() {
    let form = stream(
        "/Subtype/Form/Matrix[1 0 0 1 0 50]/Resources<</Font<</F 6 0 R>>/XObject<</X 5 0 R>>>>",
        "BT /F 10 Tf 0 0 Td (in a form) Tj ET /X Do /X Do",
    );
    let resources = "/XObject<</X 5 0 R/Y 9 0 R>>";
    let font = "<</Subtype/Type1/BaseFont/Courier>>";
    let document = read(&page(resources, "/X Do /Y Do", &[&form, font]));
    assert!(document.text.starts_with("# ── Page 1 ──\nin a form\nin a form"), "{}", document.text);
    assert!(document.text.len() < 10_000);
}

#[test]
fn pages_inherit_and_loops_end() {
    let content = stream("", "BT /F 10 Tf (x) Tj ET");
    let bytes = file(&[
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R 2 0 R 3 0 R 6 0 R]/Resources<</Font<</F 5 0 R>>>>>>",
        "<</Type/Pages/Kids[4 0 R]>>",
        "<</Type/Page/Contents[7 0 R 7 0 R]>>",
        "<</Subtype/Type1/BaseFont/Helvetica>>",
        "<</Type/Page>>",
        &content,
    ]);
    assert_eq!(read(&bytes).text, "# ── Page 1 ──\nx\n\n# ── Page 2 ──\n(empty)");
}

#[test]
fn broken_files_are_mended() {
    // No trailer, a wrong length, no end of the last object, and an older form of an object.
    let text = b"junk %PDF-1.4\n4 0 obj <</Length 3>>stream\nBT /F 1 Tf (old) Tj ET\nendstream\n\
        1 0 obj<</Type/Catalog/Pages 2 0 R>>\n2 0 obj<</Kids[3 0 R]>>endobj\n\
        3 0 obj<</Type/Page/Contents 4 0 R/Resources<</Font<</F<<>>>>>>>>endobj\n\
        4 0 obj <</Length 99>>stream\nBT /F 1 Tf (new) Tj ET\nendstream";
    check(text, "new");
    // No catalog either.
    let text = String::from_utf8_lossy(text).replace("/Catalog", "/Other");
    check(text.as_bytes(), "new");
}

#[test]
fn images_in_content_are_passed_over() {
    check(&page(HELVETICA, "BI /W 1 ID (EI ( EI BT /F 9 Tf (after) Tj ET", &[]), "after");
}

#[test]
fn what_is_not_read_says_why() {
    assert!(matches!(extract(b"no"), Err(ExtractError::Malformed(_))));
    assert!(matches!(extract(b"%PDF-1.4"), Err(ExtractError::Malformed(_))));
    assert_eq!(extract(&page("", "", &[])), Err(ExtractError::Blank));
    let mut encrypted = page(HELVETICA, "", &[]);
    encrypted.extend_from_slice(b"trailer <</Encrypt 9 0 R>>");
    assert_eq!(extract(&encrypted), Err(ExtractError::Encrypted));
}

#[test]
fn bombs_end() {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; 3_000_000]).unwrap();
    let data = encoder.finish().unwrap();
    let mut bytes = file(&[
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]>>",
        "<</Type/Page/Contents 4 0 R>>",
    ]);
    let head = format!("4 0 obj<</Filter/FlateDecode/Length {}>>stream\n", data.len());
    bytes.extend_from_slice(head.as_bytes());
    bytes.extend_from_slice(&data);
    bytes.extend_from_slice(b"\nendstream endobj");
    assert!(matches!(extract(&bytes), Err(ExtractError::TooLarge(_))));

    // Each form shows the next one ten times.
    let forms: Vec<String> = (0..8)
        .map(|n| {
            let next = format!("/Subtype/Form/Resources<</XObject<</X {} 0 R>>>>", n + 6);
            stream(&next, &"/X Do ".repeat(10))
        })
        .collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    let bytes = page("/XObject<</X 5 0 R>>", "/X Do", &forms);
    assert_eq!(extract(&bytes), Err(ExtractError::Blank));

    for hostile in ["1 0 obj [", "1 0 obj (", "1 0 obj <<", "<<", "1 0 obj stream ", "trailer "] {
        let text = format!("%PDF-1.4 {}", hostile.repeat(20_000));
        assert!(extract(text.as_bytes()).is_err());
    }
}
