//! Names that secrets go by.

/// Words that make a key secret wherever they stand in it.
const WORDS: [&str; 16] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "secrets",
    "token",
];
/// Words that only together make a key secret.
const PAIRS: [(&str, &str); 6] = [
    ("access", "key"),
    ("api", "key"),
    ("key", "material"),
    ("private", "key"),
    ("session", "key"),
    ("signing", "key"),
];
/// Last words of keys that are about a secret but don't hold it.
const ABOUT: [&str; 14] = [
    "budget", "count", "endpoint", "env", "expires", "expiry", "file", "length", "limit", "method",
    "path", "ttl", "type", "uri",
];

/// Whether a value under this key is likely to be a secret: `password`, `X-Api-Key`,
/// `githubToken`; not `max_tokens` or `token_type`.
#[must_use]
pub fn is_secret_key(key: &str) -> bool {
    let words = words(key);
    if words.last().is_some_and(|last| ABOUT.contains(&last.as_str())) {
        return false;
    }
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if PAIRS.contains(&(a.as_str(), b.as_str()))))
}

/// The words of a name, in lower case, from snake case, kebab case or camel case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut after_lower = false;
    let mut begins = true;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            begins = true;
            continue;
        }
        begins |= after_lower && c.is_ascii_uppercase();
        let lower = c.to_ascii_lowercase();
        match words.last_mut() {
            Some(word) if !begins => word.push(lower),
            _ => words.push(lower.to_string()),
        }
        after_lower = !c.is_ascii_uppercase();
        begins = false;
    }
    words
}

/// Parts of the names of settings that hold secrets.
const PARTS: [&str; 18] = [
    "apikey",
    "api_key",
    "api-key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "auth",
    "access_key",
    "access-key",
    "private_key",
    "private-key",
    "signing_key",
    "encryption_key",
    "accesskey",
    "privatekey",
];

/// Whether one of the parts is in the name of a setting. An author is no secret.
pub(super) fn has_secret_part(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace("author", "").replace("ization", "auth");
    PARTS.iter().any(|part| name.contains(part))
}

/// Whether a setting only counts something: `max_tokens: 4096`, `token_count: 5`.
pub(super) fn is_count(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["tokens", "_count", "_limit", "_budget"].iter().any(|end| name.ends_with(end))
        && value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b','))
}

/// Parameters of addresses and forms that hold secrets.
const PARAMETERS: [&str; 17] = [
    "access_token",
    "refresh_token",
    "id_token",
    "token",
    "api_key",
    "apikey",
    "client_secret",
    "password",
    "auth",
    "jwt",
    "session",
    "secret",
    "key",
    "code",
    "signature",
    "x-amz-signature",
    "x-amz-security-token",
];

/// Whether a parameter holds a secret; its name may be percent-encoded, up to three times.
pub(super) fn is_secret_parameter(name: &str) -> bool {
    let name = decoded(name).to_ascii_lowercase();
    PARAMETERS.contains(&name.as_str())
}

/// Percent-decodes up to three times.
pub(super) fn decoded(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..3 {
        if !text.contains('%') {
            break;
        }
        text = percent_decoded(&text);
    }
    text
}

/// Percent-decodes a text once. What is no UTF-8 then is replaced.
#[must_use]
pub fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (byte == b'%').then(|| (hex(ahead.next()), hex(ahead.next())));
        if let Some((Some(high), Some(low))) = digits {
            bytes.push(high * 16 + low);
            rest = ahead;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: Option<u8>) -> Option<u8> {
    u8::try_from(char::from(digit?).to_digit(16)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        for key in [
            "password",
            "DB_PASSWORD",
            "X-Api-Key",
            "apiKey",
            "githubToken",
            "authorization",
            "Set-Cookie",
            "aws_secret_access_key",
            "privateKey",
            "auth",
            "client_secret",
        ] {
            assert!(is_secret_key(key), "{key}");
        }
        for key in
            ["max_tokens", "token_type", "tokenizer", "author", "key", "path", "keyboard", "", "é"]
        {
            assert!(!is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn parameters() {
        for name in ["token", "Code", "%74oken", "%2574oken", "%252574oken", "X-Amz-Signature"] {
            assert!(is_secret_parameter(name), "{name}");
        }
        for name in ["state", "%25252574oken", "%zz", "%", "tokens"] {
            assert!(!is_secret_parameter(name), "{name}");
        }
    }
}
