//! Rows of a content search as JSON: objects for a few, a compact text for many.

use std::collections::BTreeMap;

use hermes_fs::search::Row;
use serde_json::{Map, Value, json};

/// From this many rows on the text form is used.
const TEXT_FROM: usize = 5;
/// What the text form looks like, for the model.
const FORMAT: &str = "a line with the path, then its rows: two blanks, line number, `: ` and the \
    text; `- ` instead of `: ` for lines around a match; of a long line, the part around the match, \
    with the column in brackets after the number";

/// Adds the rows to a result.
pub(crate) fn put_rows(result: &mut Map<String, Value>, page: &[(String, Vec<Row>)]) {
    let count: usize = page.iter().map(|(_, rows)| rows.len()).sum();
    // The text form can't tell such names and matches apart.
    let is_plain = page.iter().all(|(path, rows)| {
        !path.starts_with(' ')
            && !path.contains(char::is_control)
            && rows.iter().all(|row| row.line == row.end_line)
    });
    if count >= TEXT_FROM && is_plain {
        result.insert("matches_format".to_owned(), FORMAT.into());
        result.insert("matches_text".to_owned(), as_text(page).into());
    } else {
        let matches =
            page.iter().flat_map(|(path, rows)| rows.iter().map(|row| as_json(path, row)));
        result.insert("matches".to_owned(), matches.collect());
    }
}

fn as_json(path: &str, row: &Row) -> Value {
    let mut object = Map::new();
    object.insert("path".to_owned(), path.into());
    object.insert("line".to_owned(), row.line.into());
    if let Some(column) = row.column {
        object.insert("column".to_owned(), column.into());
    }
    object.insert("content".to_owned(), row.text.clone().into());
    if row.end_line > row.line {
        object.insert("end_line".to_owned(), row.end_line.into());
    }
    if !row.before.is_empty() {
        object.insert("before".to_owned(), json!(row.before));
    }
    if !row.after.is_empty() {
        object.insert("after".to_owned(), json!(row.after));
    }
    object.into()
}

fn as_text(page: &[(String, Vec<Row>)]) -> String {
    let mut out = Vec::new();
    for (path, rows) in page {
        out.push(path.clone());
        let mut lines: BTreeMap<u64, (String, &str)> = BTreeMap::new();
        for row in rows {
            let first = row.line.saturating_sub(row.before.len() as u64);
            for (number, text) in (first..).zip(&row.before) {
                lines.entry(number).or_insert_with(|| ("-".to_owned(), text));
            }
            for (number, text) in (row.end_line + 1..).zip(&row.after) {
                lines.entry(number).or_insert_with(|| ("-".to_owned(), text));
            }
        }
        // Last, since a match may lie within the lines around another.
        for row in rows {
            let sign = row.column.map_or_else(|| ":".to_owned(), |column| format!("[{column}]:"));
            lines.insert(row.line, (sign, &row.text));
        }
        out.extend(
            lines.into_iter().map(|(number, (sign, text))| format!("  {number}{sign} {text}")),
        );
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn row(line: u64, context: &[&str]) -> Row {
        let context: Vec<String> = context.iter().map(|&line| line.to_owned()).collect();
        Row {
            line,
            end_line: line,
            text: format!("x{line}"),
            column: (line == 99).then_some(700),
            before: context.clone(),
            after: context,
        }
    }

    fn rendered(page: &[(&str, Vec<Row>)]) -> Value {
        let page: Vec<_> =
            page.iter().map(|(path, rows)| ((*path).to_owned(), rows.clone())).collect();
        let mut result = Map::new();
        put_rows(&mut result, &page);
        result.into()
    }

    #[test]
    fn few_rows_are_objects() {
        assert_eq!(
            rendered(&[("f", vec![row(2, &["a"])])]),
            json!({"matches": [
                {"path": "f", "line": 2, "content": "x2", "before": ["a"], "after": ["a"]},
            ]})
        );
        assert_eq!(rendered(&[]), json!({"matches": []}));
    }

    #[test]
    fn many_rows_are_text_with_each_line_once() {
        let rows = vec![row(2, &["a"]), row(4, &["a"]), row(5, &["b"])];
        let text = rendered(&[("f", rows), ("g", vec![row(1, &[]), row(3, &[])])]);
        assert_eq!(
            text["matches_text"],
            "f\n  1- a\n  2: x2\n  3- a\n  4: x4\n  5: x5\n  6- b\ng\n  1: x1\n  3: x3"
        );
        let cut = rendered(&[("f", (95..=99).map(|line| row(line, &[])).collect())]);
        assert!(cut["matches_text"].as_str().unwrap().ends_with("\n  98: x98\n  99[700]: x99"));
        let odd = rendered(&[("a\nb", (1..9).map(|line| row(line, &[])).collect())]);
        assert_eq!(odd["matches"].as_array().unwrap().len(), 8);
    }
}
