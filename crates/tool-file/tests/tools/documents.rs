//! Documents that `read_file` shows as text, and encodings that are guessed.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::world::{World, check};

const NOTEBOOK: &str = r##"{"cells": [
    {"cell_type": "markdown", "source": ["# T\n", "x"]},
    {"cell_type": "code", "source": "a\nb\n", "outputs": [{"output_type": "stream", "text": "out\n"}]}
]}"##;

#[test]
fn a_notebook_is_shown_as_its_cells() {
    let world = World::new(&[("n.ipynb", NOTEBOOK.as_bytes()), ("odd.ipynb#outputs", b"text\n")]);
    let read = |args| world.call("read_file", args);
    check(
        &read(json!({"path": "n.ipynb"})),
        &json!({
            "content": "1|# ── Markdown cell 1 ──\n2|# T\n3|x\n4|\n5|# ── Code cell 1 ──\n6|a\n7|b",
            "total_lines": 7, "extracted_document": true, "truncated": false, "encoding": null,
            "file_size": NOTEBOOK.len(),
            "_hint": "outputs of 1 cells aren't shown; read \"n.ipynb#outputs\" for the first 20 lines of each",
        }),
    );
    check(
        &read(json!({"path": "n.ipynb", "offset": 6, "limit": 1})),
        &json!({"content": "6|a", "next_offset": 7, "truncated": true}),
    );
    check(
        &read(json!({"path": "n.ipynb#outputs", "offset": 7})),
        &json!({"content": "7|b\n8|\n9|# ── Output ──\n10|out", "total_lines": 10, "_hint": null}),
    );
    check(&read(json!({"path": "odd.ipynb#outputs"})), &json!({"content": "1|text"}));
    check(&read(json!({"path": "none.ipynb#outputs"})), &json!({"error_kind": "not_found"}));
}

#[test]
fn a_notebook_that_is_none_is_text() {
    let world = World::new(&[
        ("broken.ipynb", b"{\"cells\": [\n"),
        ("empty.ipynb", b""),
        ("nul.ipynb", b"{\0}"),
        ("folder.ipynb/x", b""),
    ]);
    let read = |path| world.call("read_file", json!({"path": path}));
    check(
        &read("broken.ipynb"),
        &json!({"content": "1|{\"cells\": [", "extracted_document": null}),
    );
    check(&read("empty.ipynb"), &json!({"content": "", "total_lines": 0}));
    check(&read("nul.ipynb"), &json!({"error_kind": "binary"}));
    check(&read("folder.ipynb"), &json!({"error_kind": "is_directory"}));
}

#[test]
fn notebooks_can_be_patched_and_other_documents_not() {
    let world = World::new(&[("n.ipynb", NOTEBOOK.as_bytes()), ("d.pdf", b"%PDF-1.4\nold\n")]);
    let patch = |path, old, new| {
        world.call("patch", json!({"path": path, "old_string": old, "new_string": new}))
    };
    check(&patch("n.ipynb", "\"# T\\n\"", "\"# U\\n\""), &json!({"success": true}));
    check(&patch("d.pdf", "old", "new"), &json!({"error_kind": "binary"}));
    for path in ["d.pdf", "new.docx", "New.XLSX"] {
        let args = json!({"path": path, "content": "text"});
        check(&world.call("write_file", args), &json!({"error_kind": "binary"}));
        let patch = format!("*** Begin Patch\n*** Add File: sub/{path}\n+text\n*** End Patch");
        let args = json!({"mode": "patch", "patch": patch});
        check(&world.call("patch", args), &json!({"error_kind": "binary"}));
    }
    assert_eq!(world.bytes("d.pdf"), b"%PDF-1.4\nold\n");
    assert!(!world.path("sub").exists() && !world.path("new.docx").exists());
}

#[test]
fn a_pdf_is_one_by_its_content() {
    let world = World::new(&[("text.pdf", b"not one\n"), ("broken.pdf", b"%PDF-1.4\n")]);
    let read = |path| world.call("read_file", json!({"path": path}));
    check(&read("text.pdf"), &json!({"content": "1|not one", "extracted_document": null}));
    check(&read("broken.pdf"), &json!({"error_kind": "binary"}));
}

/// The samples of `hermes-documents`.
#[cfg(all(feature = "office", feature = "pdf"))]
#[test]
fn office_files_and_pdf_are_shown() {
    let word = include_bytes!("../../../hermes-documents/tests/data/word.docx");
    let excel = include_bytes!("../../../hermes-documents/tests/data/excel.xlsx");
    let report = include_bytes!("../../../hermes-documents/tests/data/report.pdf");
    let world = World::new(&[
        ("a.docx", word),
        ("b.XLSX", excel),
        ("c.pdf", report),
        ("cut.docx", &word[..1000]),
        ("d.docx", b"text\n"),
    ]);
    let read =
        |path, offset| world.call("read_file", json!({"path": path, "offset": offset, "limit": 1}));
    for (path, content) in
        [("a.docx", "2|# First part"), ("b.XLSX", "2|name\tn\twhen\tok"), ("c.pdf", "2|The Title")]
    {
        check(&read(path, 2), &json!({"content": content, "extracted_document": true}));
    }
    for path in ["cut.docx", "d.docx"] {
        let result = read(path, 1);
        check(&result, &json!({"error_kind": "binary"}));
        assert!(result["error"].as_str().unwrap().contains("zip archive"), "{result}");
    }
}

#[cfg(not(any(feature = "office", feature = "pdf")))]
#[test]
fn what_is_not_built_in_names_the_feature() {
    let world = World::new(&[("a.docx", b"PK"), ("c.pdf", b"%PDF-1.4\n")]);
    for (path, feature) in [("a.docx", "`file-office`"), ("c.pdf", "`file-pdf`")] {
        let result = world.call("read_file", json!({"path": path}));
        check(&result, &json!({"error_kind": "binary"}));
        assert!(result["error"].as_str().unwrap().contains(feature), "{result}");
    }
}

/// "これは日本語の文章です。\n二行目\n" in Shift_JIS.
const JAPANESE: &[u8] =
    b"\x82\xB1\x82\xEA\x82\xCD\x93\xFA\x96{\x8C\xEA\x82\xCC\x95\xB6\x8F\xCD\x82\xC5\
    \x82\xB7\x81B\n\x93\xF1\x8Ds\x96\xDA\n";

#[test]
fn a_guessed_encoding_is_read_patched_and_written() {
    // "Привет, мир\nстрока\n"
    let cyrillic = b"\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0\n\xF1\xF2\xF0\xEE\xEA\xE0\n";
    let world = World::new(&[("c", cyrillic), ("j", JAPANESE)]);
    let read = |path| world.call("read_file", json!({"path": path}));
    check(&read("c"), &json!({"content": "1|Привет, мир\n2|строка", "encoding": "windows-1251"}));
    check(
        &read("j"),
        &json!({"content": "1|これは日本語の文章です。\n2|二行目", "encoding": "shift_jis"}),
    );

    let args = json!({"path": "c", "old_string": "мир", "new_string": "край"});
    check(&world.call("patch", args), &json!({"success": true}));
    let mut expected = cyrillic.to_vec();
    expected.splice(8..11, *b"\xEA\xF0\xE0\xE9");
    assert_eq!(world.bytes("c"), expected);

    let args = json!({"path": "j", "old_string": "二行目", "new_string": "行"});
    check(&world.call("patch", args), &json!({"success": true}));
    assert_eq!(world.bytes("j"), [&JAPANESE[..25], b"\x8Ds\n"].concat());

    let args = json!({"path": "j", "content": "目\n"});
    check(&world.call("write_file", args), &json!({"warning": null}));
    assert_eq!(world.bytes("j"), b"\x96\xDA\n");
    let args = json!({"path": "c", "content": "日\n"});
    let result = world.call("write_file", args);
    assert!(result["warning"].as_str().unwrap().contains("windows-1251"), "{result}");
    assert_eq!(world.bytes("c"), "日\n".as_bytes());
}

#[test]
fn bytes_outside_an_edit_stay_whatever_was_guessed() {
    // Shift_JIS at first, then bytes that are no Shift_JIS.
    let mut bytes = JAPANESE.repeat(4000);
    bytes.extend_from_slice(b"\xFF\xFE\xFD \xA0\nplain\n");
    let world = World::new(&[("m", &bytes)]);
    check(
        &world.call("read_file", json!({"path": "m", "limit": 1})),
        &json!({"encoding": "shift_jis"}),
    );
    let args = json!({"path": "m", "old_string": "plain", "new_string": "other"});
    check(&world.call("patch", args), &json!({"success": true}));
    let len = bytes.len();
    bytes[len - 6..len - 1].copy_from_slice(b"other");
    assert!(world.bytes("m") == bytes);
}
