//! Jupyter notebooks: the source of the cells, and their outputs where they are asked for.

use serde_json::Value;

use crate::document::{Document, ExtractError, Options};

/// How many lines of an output are shown.
const MAX_OUTPUT_LINES: usize = 20;
/// How many characters of a line of an output are shown.
const MAX_OUTPUT_LINE: usize = 500;

pub(crate) fn extract(bytes: &[u8], options: Options) -> Result<Document, ExtractError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let notebook: Value = serde_json::from_slice(bytes)
        .map_err(|_| ExtractError::Malformed("it isn't the JSON of a notebook"))?;
    let mut text = Cells { options, ..Cells::default() };
    match (array(&notebook, "cells"), array(&notebook, "worksheets")) {
        (Some(cells), _) => cells.iter().for_each(|cell| text.cell(cell)),
        // Format 3.
        (None, Some(sheets)) => {
            let cells = sheets.iter().filter_map(|sheet| array(sheet, "cells")).flatten();
            cells.for_each(|cell| text.cell(cell));
        }
        (None, None) => return Err(ExtractError::Malformed("there are no cells in it")),
    }
    if text.blocks.is_empty() {
        return Err(ExtractError::Blank);
    }
    let hidden_outputs = text.hidden_outputs;
    Ok(Document { text: text.blocks.join("\n\n"), hidden_outputs, ..Document::default() })
}

fn array<'a>(value: &'a Value, key: &str) -> Option<&'a Vec<Value>> {
    value.get(key)?.as_array()
}

#[derive(Default)]
struct Cells {
    options: Options,
    blocks: Vec<String>,
    markdown: usize,
    code: usize,
    hidden_outputs: usize,
}

impl Cells {
    fn cell(&mut self, cell: &Value) {
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or_default();
        let header = match kind {
            "markdown" => {
                self.markdown += 1;
                format!("# ── Markdown cell {} ──", self.markdown)
            }
            "code" => {
                self.code += 1;
                format!("# ── Code cell {} ──", self.code)
            }
            "raw" => "# ── Raw cell ──".to_owned(),
            _ => return,
        };
        // Code of format 3 is in `input`.
        let source = cell.get("source").or_else(|| cell.get("input")).map(joined);
        self.blocks.push(block(header, source.as_deref().unwrap_or_default()));
        let outputs = array(cell, "outputs").filter(|outputs| !outputs.is_empty());
        if let Some(outputs) = outputs.filter(|_| kind == "code") {
            if self.options.outputs {
                let shown: Vec<String> = outputs.iter().filter_map(output).collect();
                let header = "# ── Output ──".to_owned();
                self.blocks.push(block(header, &cut(&shown.join("\n"))));
            } else {
                self.hidden_outputs += 1;
            }
        }
    }
}

fn block(mut header: String, source: &str) -> String {
    let source = source.trim_end_matches(['\n', '\r']);
    if !source.is_empty() {
        header.push('\n');
        header.push_str(source);
    }
    header
}

/// A text, or lines of one.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// What an output looks like as text.
fn output(output: &Value) -> Option<String> {
    let get = |key| output.get(key).filter(|value| !value.is_null());
    if let Some(traceback) = array(output, "traceback").filter(|lines| !lines.is_empty()) {
        let lines: Vec<&str> = traceback.iter().filter_map(Value::as_str).collect();
        return Some(without_escapes(&lines.join("\n")));
    }
    if let Some(name) = get("ename").and_then(Value::as_str) {
        return Some(format!("{name}: {}", get("evalue").map(joined).unwrap_or_default()));
    }
    // Format 3 has what later formats have in `data` beside it, and the text as `text`.
    let text = get("text").or_else(|| output.get("data")?.get("text/plain"));
    if let Some(text) = text {
        return Some(without_escapes(joined(text).trim_end_matches('\n')));
    }
    let data = output.get("data")?.as_object()?;
    let kinds: Vec<&str> = data.keys().map(String::as_str).collect();
    Some(format!("({})", kinds.join(", "))).filter(|_| !kinds.is_empty())
}

/// Without the escape sequences that colour text on terminals.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        if chars.next() == Some('[') {
            // Parameters, up to the letter that ends the sequence.
            let _ = chars.find(|c| ('@'..='~').contains(c));
        }
    }
    out
}

fn cut(text: &str) -> String {
    let total = text.lines().count();
    let mut lines: Vec<String> = text
        .lines()
        .take(MAX_OUTPUT_LINES)
        .map(|line| match line.char_indices().nth(MAX_OUTPUT_LINE) {
            Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
            None => line.to_owned(),
        })
        .collect();
    if total > MAX_OUTPUT_LINES {
        lines.push(format!("... ({} more lines)", total - MAX_OUTPUT_LINES));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn text(notebook: &Value, outputs: bool) -> String {
        extract(notebook.to_string().as_bytes(), Options { outputs }).unwrap().text
    }

    #[test]
    fn cells_are_numbered_by_kind() {
        let notebook = json!({"cells": [
            {"cell_type": "markdown", "source": ["# T\n", "x\n\n"]},
            {"cell_type": "raw", "source": "r"},
            {"cell_type": "code", "source": "print(1)\n", "outputs": []},
            {"cell_type": "weird", "source": "z"},
            {"cell_type": "markdown", "source": []},
            {"cell_type": "code", "source": ["a\n", 5, "b"]},
            {"source": "no kind"}, 7,
        ]});
        assert_eq!(
            text(&notebook, false),
            "# ── Markdown cell 1 ──\n# T\nx\n\n# ── Raw cell ──\nr\n\n# ── Code cell 1 ──\nprint(1)\n\n\
             # ── Markdown cell 2 ──\n\n# ── Code cell 2 ──\na\nb"
        );
    }

    #[test]
    fn worksheets_of_format_3() {
        let notebook = json!({"nbformat": 3, "worksheets": [
            {"cells": [{"cell_type": "code", "input": ["x = 1\n", "y"], "outputs": [{"text": "1"}]}]},
            {"cells": [{"cell_type": "markdown", "source": "m"}]},
        ]});
        assert_eq!(
            text(&notebook, false),
            "# ── Code cell 1 ──\nx = 1\ny\n\n# ── Markdown cell 1 ──\nm"
        );
    }

    #[test]
    fn outputs_are_left_out_unless_asked_for() {
        let long: Vec<String> = (0..30).map(|n| format!("{n}\n")).collect();
        let notebook = json!({"cells": [
            {"cell_type": "code", "source": "a", "outputs": [
                {"output_type": "stream", "text": long},
            ]},
            {"cell_type": "code", "source": "b", "outputs": [
                {"data": {"image/png": "AAAA", "text/html": "<b>"}},
                {"data": {"text/plain": ["1\n", "2"]}},
                {"output_type": "error", "ename": "E", "evalue": "v",
                 "traceback": ["\u{1b}[0;31mE\u{1b}[0m: v"]},
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": []},
                {},
            ]},
        ]});
        let hidden = extract(notebook.to_string().as_bytes(), Options::default()).unwrap();
        assert_eq!(hidden.text, "# ── Code cell 1 ──\na\n\n# ── Code cell 2 ──\nb");
        assert_eq!(hidden.hidden_outputs, 2);
        let shown = text(&notebook, true);
        assert!(shown.contains("# ── Output ──\n0\n1\n"), "{shown}");
        assert!(shown.contains("\n19\n... (10 more lines)\n\n# ── Code cell 2"), "{shown}");
        assert!(
            shown.ends_with("# ── Output ──\n(image/png, text/html)\n1\n2\nE: v\nE: v"),
            "{shown}"
        );
    }

    #[test]
    fn what_is_no_notebook() {
        for bytes in [&b""[..], b"[]", b"{}", b"{\"cells\": 1}", b"{\"cells\": []}", b"\xFF"] {
            assert!(extract(bytes, Options::default()).is_err());
        }
        let deep = "[".repeat(100_000);
        assert!(extract(deep.as_bytes(), Options::default()).is_err());
    }
}
