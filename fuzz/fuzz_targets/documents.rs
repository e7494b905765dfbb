//! Any bytes as a document, and any texts as the parts of an archive.

#![no_main]

use flate2::Crc;
use hermes_documents::{Options, extract};
use libfuzzer_sys::fuzz_target;

/// The parts that are read of packages, by kind.
const PARTS: [(&str, &[&str]); 4] = [
    ("x.docx", &["word/document.xml", "word/styles.xml"]),
    (
        "x.xlsx",
        &["xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"],
    ),
    (
        "x.pptx",
        &["ppt/presentation.xml", "ppt/_rels/presentation.xml.rels", "ppt/slides/slide1.xml"],
    ),
    ("x.odt", &["content.xml"]),
];

fuzz_target!(|input: (u8, &[u8], Vec<&str>)| {
    let (kind, bytes, texts) = input;
    let whole = ["x.ipynb", "x.pdf", "x.docx"][usize::from(kind) % 3];
    check(whole, bytes);
    check("x.pdf", &[b"%PDF-1.7\n", bytes].concat());
    let (name, parts) = PARTS[usize::from(kind) % PARTS.len()];
    check(name, &archive(parts.iter().copied().zip(texts)));
});

fn check(name: &str, bytes: &[u8]) {
    let result = extract(name, bytes, Options { outputs: true }).expect("the name of a document");
    if let Ok(document) = result {
        assert!(!document.text.is_empty() && document.text.len() <= 16 * 1024 * 1024);
    }
}

/// An archive without compression.
fn archive<'a>(parts: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let (mut out, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
    for (name, text) in parts {
        let mut sum = Crc::new();
        sum.update(text.as_bytes());
        let mut header = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for number in [sum.sum(), text.len() as u32, text.len() as u32, name.len() as u32] {
            header.extend_from_slice(&number.to_le_bytes());
        }
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&header);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&(out.len() as u32).to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&header);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(text.as_bytes());
        count += 1;
    }
    let start = out.len() as u32;
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}
