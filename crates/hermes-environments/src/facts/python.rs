//! What is odd about the Python of this machine, so that nobody has to run into it.

use super::value;

/// Tells it, a line for each. From the root folder: modules of a project must not be run for those
/// of Python.
pub(super) const SCRIPT: &str = r#"cd / || exit
version='import sys; print("%d.%d.%d" % sys.version_info[:3])'
has() { command -v "$1" >/dev/null 2>&1; }
for python in python3 python; do
  if has $python; then echo "$python=$($python -c "$version" 2>/dev/null </dev/null)"; fi
done
if has python3; then
  python3 -m pip --version >/dev/null 2>&1 </dev/null && echo module=yes
  python3 -c 'import os, sys
folder = os.path.dirname(os.__file__)
sys.exit(not os.path.exists(os.path.join(folder, "EXTERNALLY-MANAGED")))' 2>/dev/null </dev/null &&
    echo managed=yes
fi
if has pip; then echo "pip=$(pip --version 2>/dev/null </dev/null)"; fi
if has uv; then echo uv=yes; fi
true"#;

/// The line for the prompt; none if all is as one would expect.
pub(super) fn line(answer: &str) -> Option<String> {
    let version = |name| value(answer, name).filter(|it| is_version(it));
    let has = |name| value(answer, name).is_some();
    let (python3, python) = (version("python3"), version("python"));
    let (has_module, is_managed, has_uv) = (has("module"), has("managed"), has("uv"));
    let of_pip =
        value(answer, "pip").and_then(|it| it.rsplit_once("(python ")?.1.strip_suffix(')'));
    let of_pip = of_pip.filter(|it| is_version(it));
    let other = of_pip.filter(|pip| python3.is_some_and(|python| !belongs(pip, python)));
    if python3.is_some() && has_module && other.is_none() && (!is_managed || has_uv) {
        return None;
    }
    let mut parts = Vec::new();
    match python3 {
        Some(version) if has_module => parts.push(format!("python3 is {version}")),
        Some(version) => parts.push(format!("python3 is {version} and has no pip module")),
        None => parts.push("there is no working python3".to_owned()),
    }
    match (python, python3) {
        (Some(version), _) if Some(version) != python3 => {
            parts.push(format!("python is {version}"));
        }
        (None, Some(_)) => parts.push("there is no python (say python3)".to_owned()),
        _ => {}
    }
    match (other, of_pip) {
        (Some(version), _) => parts.push(format!("pip installs for another one, {version}")),
        (None, Some(version)) if !has_module => parts.push(format!("pip is of Python {version}")),
        (None, None) if !has_module => parts.push("there is no pip".to_owned()),
        _ => {}
    }
    if is_managed {
        let how = "only a virtual environment can be installed into (PEP 668)";
        parts.push(how.to_owned());
    }
    if has_uv {
        parts.push("uv is there".to_owned());
    }
    Some(format!("Python on this machine: {}.", parts.join("; ")))
}

fn is_version(text: &str) -> bool {
    text.len() <= 20
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Whether `3.1` and `3.1.4` are the same as far as both go: `3.1` isn't `3.12`.
fn belongs(one: &str, other: &str) -> bool {
    one.split('.').zip(other.split('.')).all(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn lines() {
        let normal =
            "python3=3.12.4\npython=3.12.4\nmodule=yes\npip=pip 24.0 from /x (python 3.12)";
        for (answer, expected) in [
            (normal, ""),
            ("python3=3.12.4\nmodule=yes", ""),
            ("python3=3.12.4\nmodule=yes\nmanaged=yes\nuv=yes", ""),
            (
                "python3=3.12.4\nmodule=yes\nmanaged=yes",
                "python3 is 3.12.4; there is no python (say python3); only a virtual environment \
                 can be installed into (PEP 668)",
            ),
            (
                "python3=3.12.4\npython=2.7.18\nuv=yes",
                "python3 is 3.12.4 and has no pip module; python is 2.7.18; there is no pip; uv \
                 is there",
            ),
            (
                "python3=3.12.4\npython=3.12.4\nmodule=yes\npip=pip 9 from /x (python 3.1)",
                "python3 is 3.12.4; pip installs for another one, 3.1",
            ),
            (
                "python3=3.12.4\npython=3.12.4\npip=pip 9 from /x (python 3.12)",
                "python3 is 3.12.4 and has no pip module; pip is of Python 3.12",
            ),
            ("", "there is no working python3; there is no pip"),
            ("python3=command not found\npython=", "there is no working python3; there is no pip"),
        ] {
            let line = line(answer).unwrap_or_default();
            let expected = match expected {
                "" => String::new(),
                text => format!("Python on this machine: {text}."),
            };
            assert_eq!(line, expected, "{answer}");
        }
    }
}
