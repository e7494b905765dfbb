//! How packages are named: `@scope/name@1.2.3`, `name[extra]==1.2.3`.

/// The name and the version in an npm specifier; none if it isn't about a package of the registry.
pub(super) fn npm(text: &str) -> Option<(String, Option<String>)> {
    let text = text.trim();
    // An alias stands for what is behind it.
    let text = text.split_once("npm:").map_or(text, |(_, real)| real);
    let scope = usize::from(text.starts_with('@'));
    let at = text.char_indices().skip(scope).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let (name, version) = text.split_at(at.unwrap_or(text.len()));
    let version = version.trim_start_matches('@');
    let bare = match name.strip_prefix('@') {
        Some(scoped) => {
            let (scope, bare) = scoped.split_once('/')?;
            if !is_npm_name(scope) {
                return None;
            }
            bare
        }
        None => name,
    };
    // A version with a colon or a slash is a place to fetch from.
    if !is_npm_name(bare) || version.contains([':', '/', '\\']) || bare.ends_with(".tgz") {
        return None;
    }
    let is_range = version.contains(['^', '~', '<', '>', '*', '|', ' ', 'x', 'X'])
        && !version.contains(['-', '+']);
    let version = version.trim_start_matches(['v', '=']);
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && !is_range;
    Some((name.to_owned(), is_version.then(|| version.to_owned())))
}

fn is_npm_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['.', '~'])
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~'))
}

/// The name and the version in a requirement of Python; none if it isn't about a package of the
/// index.
pub(super) fn pypi(text: &str) -> Option<(String, Option<String>)> {
    // What follows says on which machines it counts.
    let text = text.split(';').next().unwrap_or_default().trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let file = [".whl", ".gz", ".zip", ".py", ".tar"];
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric())
        || rest.contains("://")
        || rest.starts_with(['/', '\\', ':'])
        || file.iter().any(|end| name.ends_with(end))
    {
        return None;
    }
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1.trim_start(),
        None => rest,
    };
    let version = ["===", "==", "@"].iter().find_map(|mark| rest.strip_prefix(mark));
    let version = version.and_then(|version| version.trim_start().split([',', ' ']).next());
    let version = version.map(|version| version.trim_start_matches('v'));
    let version = version
        .filter(|it| it.starts_with(|c: char| c.is_ascii_digit()) && !it.contains(['*', '/']));
    Some((name.to_owned(), version.map(str::to_owned)))
}
