//! The files of a case, before and after.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use hermes_registry::Settings;
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::bind::paths::make_link;

fn failed(what: &str, path: &Path) -> impl Fn(std::io::Error) -> String {
    move |err| format!("can't {what} {}: {err}", path.display())
}

fn folder() -> Result<(TempDir, PathBuf), String> {
    let dir = tempfile::tempdir().map_err(|err| err.to_string())?;
    let path = dir.path().canonicalize().map_err(failed("find", dir.path()))?;
    Ok((dir, path))
}

/// The user's home, apart from the files.
pub(super) struct Home {
    _dir: TempDir,
    path: PathBuf,
    profile: Option<String>,
}

impl Home {
    pub(super) fn new(input: &Value) -> Result<Self, String> {
        let (dir, path) = folder()?;
        let profile = input.get("profile").and_then(Value::as_str);
        let profile = profile.filter(|name| *name != "default").map(str::to_owned);
        Ok(Self { _dir: dir, path, profile })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn fill(&self, text: &str) -> String {
        let home = self.path.display().to_string();
        text.replace("{HERMES}", "{HOME}/.hermes").replace("{HOME}", &home)
    }

    /// A value with the home filled in everywhere.
    pub(super) fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill(text).into(),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, item)| (self.fill(key), self.filled(item))).collect()
            }
            other => other.clone(),
        }
    }

    /// The settings of the call: the home, and what the case sets in the environment.
    pub(super) fn settings(&self, input: &Value) -> Settings {
        let mut env = BTreeMap::from([("HOME".to_owned(), self.path.display().to_string())]);
        for (name, value) in input.as_object().into_iter().flatten() {
            if let Some(value) = value.as_str().filter(|_| name.starts_with("HERMES_")) {
                env.insert(name.clone(), self.fill(value));
            }
        }
        let hermes = self.path.join(".hermes");
        let hermes = match &self.profile {
            Some(name) => hermes.join("profiles").join(name),
            None => hermes,
        };
        let config = input.get("config").cloned().unwrap_or_default();
        Settings::new(hermes).with_env(env).with_config(config)
    }
}

/// A folder with the files of a case.
pub(super) struct Tree {
    _dir: TempDir,
    path: PathBuf,
    /// What was there at first.
    files: BTreeMap<PathBuf, Entry>,
}

/// What is at a path; folders don't count.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    File(Vec<u8>),
    Link(PathBuf),
}

impl Tree {
    pub(super) fn new(home: &Home, files: &Value) -> Result<Self, String> {
        #[cfg(unix)]
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
        let (dir, path) = folder()?;
        let files = home.filled(files);
        for (name, spec) in files.as_object().into_iter().flatten() {
            make(&path.join(name), spec)?;
        }
        let files = entries(&path)?;
        Ok(Self { _dir: dir, path, files })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Compares the folder with what is expected of single paths. When it is `closed`, all others
    /// are as they were, and there are no new ones.
    pub(super) fn check(
        &self,
        home: &Home,
        after: &Map<String, Value>,
        closed: bool,
    ) -> Result<(), String> {
        let mut expected = BTreeMap::new();
        for (name, spec) in after {
            let (path, spec) = (self.path.join(home.fill(name)), home.filled(spec));
            check_entry(&path, &spec)?;
            expected.insert(path, ());
        }
        if !closed {
            return Ok(());
        }
        let now = entries(&self.path)?;
        let paths = now.keys().chain(self.files.keys());
        for path in paths.filter(|path| !expected.contains_key(*path)) {
            if now.get(path) != self.files.get(path) {
                return Err(format!("{} was changed, made or removed", path.display()));
            }
        }
        Ok(())
    }
}

/// Makes a file, a link or a folder as a case describes it.
pub(in crate::bind) fn make(path: &Path, spec: &Value) -> Result<(), String> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(failed("create", parent))?;
    if let Some(target) = spec.get("symlink").and_then(Value::as_str) {
        return make_link(path, Path::new(target));
    }
    if spec.get("dir").is_some() {
        return fs::create_dir_all(path).map_err(failed("create", path));
    }
    fs::write(path, content(spec)?).map_err(failed("write", path))?;
    if let Some(seconds) = spec.get("mtime").and_then(Value::as_u64) {
        let file = fs::File::options().write(true).open(path).map_err(failed("open", path))?;
        let time = UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(time).map_err(failed("date", path))?;
    }
    #[cfg(unix)]
    if let Some(mode) = spec.get("mode").and_then(Value::as_str) {
        use std::os::unix::fs::PermissionsExt;
        let mode = u32::from_str_radix(mode, 8).map_err(|err| err.to_string())?;
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(path, permissions).map_err(failed("set the mode of", path))?;
    }
    Ok(())
}

/// The bytes that a case gives for a file.
fn content(spec: &Value) -> Result<Vec<u8>, String> {
    let part = |key: &str| spec.get(key).and_then(Value::as_str);
    match (spec.as_str().or(part("text")), part("b64"), part("repeat")) {
        (Some(text), ..) => Ok(text.as_bytes().to_vec()),
        (_, Some(base64), _) => decode(base64),
        (.., Some(text)) => {
            let times = spec.get("times").and_then(Value::as_u64).unwrap_or(1);
            Ok(text.repeat(usize::try_from(times).unwrap_or(usize::MAX)).into_bytes())
        }
        _ => Err(format!("no content: {spec}")),
    }
}

fn decode(base64: &str) -> Result<Vec<u8>, String> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for byte in base64.bytes().filter(|byte| *byte != b'=') {
        let value = ALPHABET.iter().position(|known| *known == byte);
        let value = value.ok_or_else(|| format!("no base64: {base64}"))?;
        bits = ((bits << 6) | u32::try_from(value).unwrap_or_default()) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xFF).unwrap_or_default());
        }
    }
    Ok(out)
}

fn check_entry(path: &Path, spec: &Value) -> Result<(), String> {
    if spec.is_null() {
        let there = path.symlink_metadata().is_ok();
        return if there { Err(format!("{} is there", path.display())) } else { Ok(()) };
    }
    let metadata = path.symlink_metadata().map_err(failed("look at", path))?;
    let wants_link = spec.get("is_symlink").and_then(Value::as_bool);
    if wants_link.is_some_and(|wanted| wanted != metadata.is_symlink()) {
        return Err(format!("{}: is_symlink is {}", path.display(), metadata.is_symlink()));
    }
    if spec.is_string() || spec.get("text").is_some() || spec.get("b64").is_some() {
        let (found, wanted) = (fs::read(path).map_err(failed("read", path))?, content(spec)?);
        if found != wanted {
            let [found, wanted] = [found, wanted].map(|bytes| bytes.escape_ascii().to_string());
            return Err(format!("{} holds {found}, not {wanted}", path.display()));
        }
    }
    #[cfg(unix)]
    if let Some(wanted) = spec.get("mode").and_then(Value::as_str) {
        use std::os::unix::fs::PermissionsExt;
        let metadata = path.metadata().map_err(failed("look at", path))?;
        let mode = format!("{:o}", metadata.permissions().mode() & 0o7777);
        if mode != wanted.trim_start_matches('0') {
            return Err(format!("{}: the mode is {mode}, not {wanted}", path.display()));
        }
    }
    Ok(())
}

/// Every file and link below a folder.
fn entries(root: &Path) -> Result<BTreeMap<PathBuf, Entry>, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(failed("list", &folder))? {
            let path = entry.map_err(failed("list", &folder))?.path();
            let kind = path.symlink_metadata().map_err(failed("look at", &path))?;
            if kind.is_symlink() {
                let target = fs::read_link(&path).map_err(failed("read", &path))?;
                found.insert(path, Entry::Link(target));
            } else if kind.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).map_err(failed("read", &path))?;
                found.insert(path, Entry::File(bytes));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64() {
        for (text, expected) in [("", &b""[..]), ("77u/YQo=", b"\xEF\xBB\xBFa\n"), ("YQ==", b"a")] {
            assert_eq!(decode(text).unwrap(), expected);
        }
        assert!(decode("a b").is_err());
    }
}
