//! Files that are generated, committed and checked by the same code.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Whether a command writes its files or only tells which are stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// When a file on disk counts as up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The same text, line endings aside.
    Text,
    /// The same JSON value, whatever its layout.
    Json,
}

/// A file as it should be; `None` when there should be none.
#[derive(Debug, PartialEq)]
pub(crate) struct Generated {
    pub(crate) path: PathBuf,
    pub(crate) contents: Option<String>,
    pub(crate) form: Form,
}

impl Generated {
    pub(crate) fn text(path: PathBuf, contents: String) -> Self {
        Self { path, contents: Some(contents), form: Form::Text }
    }

    pub(crate) fn json(path: PathBuf, contents: String) -> Self {
        Self { path, contents: Some(contents), form: Form::Json }
    }

    pub(crate) fn absent(path: PathBuf) -> Self {
        Self { path, contents: None, form: Form::Text }
    }
}

/// Makes `files` so, or in [`Mode::Check`] fails with the list of those that aren't.
///
/// `command` is what the failure tells people to run.
pub(crate) fn ensure_file_contents(
    root: &Path,
    files: &[Generated],
    mode: Mode,
    command: &str,
) -> Result<()> {
    let mut stale = Vec::new();
    for file in files {
        let present = read(&file.path)?;
        let Some(why) = difference(present.as_deref(), file) else { continue };
        let shown = file.path.strip_prefix(root).unwrap_or(&file.path).display();
        match mode {
            Mode::Check => stale.push(format!("  {shown}: {why}")),
            Mode::Write => {
                write(file)?;
                println!("{} {shown}", if file.contents.is_some() { "wrote" } else { "removed" });
            }
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("out of date:\n{}\nto mend it, run: {command}", stale.join("\n"));
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err).with_context(|| format!("can't read {}", path.display())),
    }
}

fn write(file: &Generated) -> Result<()> {
    let path = &file.path;
    let Some(contents) = &file.contents else {
        return fs::remove_file(path).with_context(|| format!("can't remove {}", path.display()));
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))?;
    }
    fs::write(path, contents).with_context(|| format!("can't write {}", path.display()))
}

/// What is wrong with a file on disk; none when it is up to date.
fn difference(present: Option<&str>, file: &Generated) -> Option<String> {
    match (present, file.contents.as_deref()) {
        (None, None) => None,
        (None, Some(_)) => Some("is missing".into()),
        (Some(_), None) => Some("belongs to nothing that exists".into()),
        (Some(old), Some(new)) => match file.form {
            Form::Text => first_line_difference(old, new),
            Form::Json => first_json_difference(old, new),
        },
    }
}

fn first_line_difference(old: &str, new: &str) -> Option<String> {
    let old = old.replace("\r\n", "\n");
    if old == new {
        return None;
    }
    let same = old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count();
    Some(format!("differs from line {}", same + 1))
}

fn first_json_difference(old: &str, new: &str) -> Option<String> {
    let (Ok(old), Ok(new)) =
        (serde_json::from_str::<Value>(old), serde_json::from_str::<Value>(new))
    else {
        return Some("isn't JSON".into());
    };
    let at = differing_pointer(&old, &new)?;
    Some(format!("differs at {}", if at.is_empty() { "its root" } else { &at }))
}

/// The JSON pointer of the first value that isn't the same in both.
fn differing_pointer(old: &Value, new: &Value) -> Option<String> {
    let deeper = |key: &str, old: &Value, new: &Value| {
        differing_pointer(old, new).map(|rest| format!("/{key}{rest}"))
    };
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => b
            .iter()
            .find_map(|(key, new)| match a.get(key) {
                Some(old) => deeper(key, old, new),
                None => Some(format!("/{key}")),
            })
            .or_else(|| a.keys().find(|key| !b.contains_key(*key)).map(|key| format!("/{key}"))),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (old, new))| deeper(&i.to_string(), old, new))
        }
        _ => (old != new).then(String::new),
    }
}

/// Marks of a generated block in a TOML file.
pub(crate) struct Block<'a> {
    /// The command that writes it, as typed.
    pub(crate) command: &'a str,
    /// The table it stands in, e.g. `features`.
    pub(crate) section: &'a str,
    /// Its lines, each ended.
    pub(crate) body: &'a str,
}

impl Block<'_> {
    /// `text` with the block's lines in place of those between its marks.
    ///
    /// A block that isn't there yet is put at the end of its table, and the table at the end of
    /// the file. This works on lines and not on TOML, since the file may not parse at present:
    /// it may be this block that mends it.
    pub(crate) fn apply(&self, text: &str) -> Result<String> {
        let Self { command, section, body } = self;
        let begin = format!("# BEGIN generated by `{command}`: {section}\n");
        let end = format!("# END generated by `{command}`: {section}\n");
        let text = text.replace("\r\n", "\n");
        match (text.split_once(&begin), text.contains(&end)) {
            (Some((before, rest)), true) => {
                let Some((_, after)) = rest.split_once(&end) else {
                    bail!("the generated {section} block ends before it begins");
                };
                Ok(format!("{before}{begin}{body}{end}{after}"))
            }
            (None, false) => Ok(insert(&text, section, &format!("{begin}{body}{end}"))),
            _ => bail!("the generated {section} block has only one of its two marks"),
        }
    }
}

/// Puts `block` at the end of the table `section`.
fn insert(text: &str, section: &str, block: &str) -> String {
    let header = format!("[{section}]");
    let mut head: Vec<&str> = Vec::new();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        head.push(line);
        if line.trim() == header {
            break;
        }
    }
    if head.last().is_none_or(|line| line.trim() != header) {
        return format!("{}\n\n{header}\n{block}", text.trim_end());
    }
    let mut tail: Vec<&str> = Vec::new();
    for line in lines.by_ref() {
        if line.starts_with('[') {
            tail.push(line);
            break;
        }
        head.push(line);
    }
    tail.extend(lines);
    while head.last().is_some_and(|line| line.trim().is_empty()) {
        head.pop();
    }
    let rest = if tail.is_empty() { String::new() } else { format!("\n{}\n", tail.join("\n")) };
    format!("{}\n{block}{rest}", head.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(text: &str) -> Result<String> {
        Block { command: "c", section: "features", body: "a = []\n" }.apply(text)
    }

    #[test]
    fn a_block_is_inserted_once_and_then_replaced() {
        let marked =
            "# BEGIN generated by `c`: features\na = []\n# END generated by `c`: features\n";
        for (text, expected) in [
            ("[package]\n", format!("[package]\n\n[features]\n{marked}")),
            (
                "[features]\nx = []\n\n[dependencies]\n",
                format!("[features]\nx = []\n{marked}\n[dependencies]\n"),
            ),
            ("[features]\n", format!("[features]\n{marked}")),
        ] {
            let once = apply(text).unwrap();
            assert_eq!(once, expected);
            assert_eq!(apply(&once).unwrap(), expected);
        }
    }

    #[test]
    fn a_block_needs_both_marks() {
        assert!(apply("[features]\n# BEGIN generated by `c`: features\n").is_err());
        assert!(apply("[features]\n# END generated by `c`: features\n").is_err());
    }

    #[test]
    fn differences() {
        let json = |text: &str| Generated::json("f".into(), text.into());
        let text = |text: &str| Generated::text("f".into(), text.into());
        for (old, file, expected) in [
            (Some("a\r\nb\n"), text("a\nb\n"), None),
            (Some("a\nb\n"), text("a\nc\n"), Some("differs from line 2")),
            (None, text(""), Some("is missing")),
            (Some(""), Generated::absent("f".into()), Some("belongs to nothing that exists")),
            (Some("{\"b\":1,\"a\":[1, 2]}"), json("{\"a\":[1,2],\"b\":1}"), None),
            (Some("{\"a\":[1,2]}"), json("{\"a\":[1,3]}"), Some("differs at /a/1")),
            (Some("{\"a\":1,\"b\":2}"), json("{\"a\":1}"), Some("differs at /b")),
            (Some("1"), json("2"), Some("differs at its root")),
            (Some("{"), json("2"), Some("isn't JSON")),
        ] {
            assert_eq!(difference(old, &file).as_deref(), expected, "{old:?} {file:?}");
        }
    }

    #[test]
    fn check_reports_what_write_mends() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("old"), "x").unwrap();
        let files = [
            Generated::text(root.join("deep/new"), "text\n".into()),
            Generated::absent(root.join("old")),
        ];
        let err = ensure_file_contents(root, &files, Mode::Check, "cargo xtask c").unwrap_err();
        let message = err.to_string();
        assert!(message.contains("deep/new: is missing"), "{message}");
        assert!(message.contains("old: belongs to nothing"), "{message}");
        assert!(message.ends_with("run: cargo xtask c"), "{message}");
        ensure_file_contents(root, &files, Mode::Write, "cargo xtask c").unwrap();
        ensure_file_contents(root, &files, Mode::Check, "cargo xtask c").unwrap();
        assert!(!root.join("old").exists());
    }
}
