//! The path rules: what isn't read or written, soft guards, devices, staying within a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hermes_guard::paths::links::follow;
use hermes_guard::paths::write::Writer;
use hermes_guard::paths::{
    Class, DEFAULT_PROFILE, Places, Target, binary, devices, lexical, read, soft, within, write,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::{Binding, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("device_blocked", Binding::Actual(device_blocked)),
    ("has_binary_extension", Binding::Actual(has_binary_extension)),
    ("has_traversal", Binding::Actual(has_traversal)),
    ("read_blocked", Binding::Actual(read_blocked)),
    ("read_denied", Binding::Actual(read_blocked)),
    ("soft_guard", Binding::Actual(soft_guard)),
    ("within_dir", Binding::Actual(within_dir)),
    ("write_denied", Binding::Actual(write_denied)),
];

/// The home of the cases that name no profile; nothing of it exists.
const ALICE: &str = "/home/alice";

fn device_blocked(input: &Value) -> Result<Value, String> {
    Ok(json!({ "blocked": devices::is_blocked(Path::new(text(input, "path")?)) }))
}

fn has_binary_extension(input: &Value) -> Result<Value, String> {
    Ok(json!({ "binary": binary::has_binary_extension(text(input, "path")?) }))
}

fn has_traversal(input: &Value) -> Result<Value, String> {
    Ok(json!({ "traversal": within::has_traversal(text(input, "path")?) }))
}

fn read_blocked(input: &Value) -> Result<Value, String> {
    let scene = Scene::new(input)?;
    let denied = read::denied(&scene.places, &scene.target(input)?).is_some();
    Ok(json!({ "blocked": denied, "denied": denied }))
}

fn write_denied(input: &Value) -> Result<Value, String> {
    let scene = Scene::new(input)?;
    // Cases without a profile are about what any tool does, the others about file tools.
    let writer = if scene.dir.is_some() { Writer::FileTool } else { Writer::Any };
    let class = write::denied(&scene.places, &scene.target(input)?, writer);
    // There, the program's own state counts as a credential.
    let kind = if class == Some(Class::Session) { Some(Class::Credential) } else { class };
    Ok(json!({
        "denied": class.is_some(),
        "reason": class.map(Class::name),
        "kind": kind.map(Class::name),
    }))
}

fn soft_guard(input: &Value) -> Result<Value, String> {
    let scene = Scene::new(input)?;
    let guard = soft::guard(&scene.places, &scene.target(input)?);
    Ok(json!({ "kind": guard.map(|guard| guard.name()) }))
}

fn within_dir(input: &Value) -> Result<Value, String> {
    let dir = tempfile::tempdir().map_err(|err| err.to_string())?;
    let root = dir.path().display().to_string();
    let name = dir.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let filled = |text: &str| text.replace("ROOTNAME", &name).replace("ROOT", &root);
    fs::create_dir(dir.path().join("sub")).map_err(|err| err.to_string())?;
    for (link, to) in pairs(input, "symlinks")? {
        make_link(&dir.path().join(filled(&link)), Path::new(&filled(&to)))?;
    }
    let root = filled(text(input, "root")?);
    let path = filled(text(input, "path")?);
    let found = within::inside(Path::new(&root), Path::new(&path), |path| {
        match fs::read_link(path) {
            Ok(target) => Ok(Some(target)),
            // Not a link, or nothing at all.
            Err(err)
                if matches!(
                    err.kind(),
                    io::ErrorKind::InvalidInput
                        | io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(err) => Err(err),
        }
    });
    Ok(json!({ "inside": found.is_some() }))
}

/// A home with the links that a case wants, or one that is only a name.
struct Scene {
    dir: Option<TempDir>,
    home: PathBuf,
    places: Places,
}

impl Scene {
    fn new(input: &Value) -> Result<Self, String> {
        let is_real = input.get("profile").is_some() || input.get("links").is_some();
        let dir = is_real.then(tempfile::tempdir).transpose().map_err(|err| err.to_string())?;
        let home = match &dir {
            Some(dir) => dir.path().canonicalize().map_err(|err| err.to_string())?,
            None => PathBuf::from(ALICE),
        };
        let hermes = home.join(".hermes");
        let hermes_home = match input.get("profile").and_then(Value::as_str) {
            None | Some(DEFAULT_PROFILE) => hermes,
            Some(name) => hermes.join("profiles").join(name),
        };
        let mut scene = Self { dir, places: Places::new(Some(&home), &hermes_home), home };
        for (link, to) in pairs(input, "links")? {
            let link = scene.absolute(&link);
            let target = scene.filled(&to);
            let place = lexical(&link.parent().unwrap_or(&link).join(&target));
            if place.starts_with(&scene.home) {
                // A file may be there already.
                let _ = fs::create_dir_all(place);
            }
            make_link(&link, Path::new(&target))?;
        }
        let roots = ["HERMES_WRITE_SAFE_ROOT", "safe_root"]
            .into_iter()
            .find_map(|key| input.get(key).and_then(Value::as_str))
            .map(|roots| scene.filled(roots));
        let places = std::mem::take(&mut scene.places)
            .with_safe_roots(&roots.unwrap_or_default(), &scene.home);
        scene.places = places.resolved(|link| scene.read_link(link));
        Ok(scene)
    }

    fn filled(&self, text: &str) -> String {
        let home = self.home.display().to_string();
        text.replace("{HERMES}", "{HOME}/.hermes").replace("{HOME}", &home)
    }

    fn absolute(&self, path: &str) -> PathBuf {
        let path = self.filled(path);
        match Path::new(&path).strip_prefix("~") {
            Ok(rest) => self.home.join(rest),
            Err(_) => self.home.join(path),
        }
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        follow(path, |link| self.read_link(link)).ok().map(|followed| followed.real)
    }

    /// What isn't a link, or isn't there, is none.
    fn read_link(&self, link: &Path) -> io::Result<Option<PathBuf>> {
        Ok(if self.dir.is_some() { fs::read_link(link).ok() } else { None })
    }

    fn target(&self, input: &Value) -> Result<Target, String> {
        let path = self.absolute(text(input, "path")?);
        let real = self.real(&path).ok_or("the links go in circles")?;
        Ok(Target::new(&path, &real))
    }
}

/// The texts of an object by name.
fn pairs(input: &Value, key: &str) -> Result<Vec<(String, String)>, String> {
    let object = input.get(key).and_then(Value::as_object);
    let pair = |(name, value): (&String, &Value)| {
        let value = value.as_str().ok_or_else(|| format!("{key:?} holds no text: {value}"))?;
        Ok((name.clone(), value.to_owned()))
    };
    object.unwrap_or(&Map::new()).iter().map(pair).collect()
}

/// Makes a symbolic link, and the folders above it.
pub(super) fn make_link(link: &Path, target: &Path) -> Result<(), String> {
    let failed = |err| format!("can't make the link {}: {err}", link.display());
    fs::create_dir_all(link.parent().unwrap_or(link)).map_err(failed)?;
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, link).map_err(failed);
    #[cfg(not(unix))]
    Err(failed(io::ErrorKind::Unsupported.into()))
}
