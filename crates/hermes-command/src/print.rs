//! What programs print, where that can be known without running them.

use crate::env::Env;
use crate::expand::{Escapes, unescape};
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::{Arg, Flow, HOLE, Taint};

/// Longest text that is made, in bytes.
const MOST: usize = 64 * 1024;

/// Programs that fetch from the network and print.
pub(crate) fn is_fetcher(name: &str) -> bool {
    matches!(
        name,
        "curl" | "wget" | "wget2" | "http" | "https" | "xh" | "xhs" | "httpie" | "fetch" | "aria2c" | "axel" | "nc" | "ncat" | "netcat"
            | "nc.openbsd" | "nc.traditional" | "socat" | "lynx" | "w3m" | "links" | "elinks" | "ftp" | "tftp" | "lftp" | "sftp" | "telnet"
            | "dig" | "nslookup" | "drill" | "host" | "curlie" | "hurl" | "rsh" | "finger" | "whois" | "Invoke-WebRequest" | "iwr"
            | "invoke-webrequest" | "irm" | "invoke-restmethod" | "lwp-request" | "GET" | "snarf" | "gist" | "ipfs"
    )
}

/// Programs that decode, when they do.
fn decodes(name: &str, args: &[Arg]) -> bool {
    let has = |texts: &[&str]| args.iter().any(|it| texts.contains(&it.marked.as_str()));
    let bundle = |letter: char| {
        args.iter().any(|it| it.is_option() && !it.starts_with("--") && it.marked.contains(letter))
    };
    match name {
        "base64" | "base32" | "basenc" | "gbase64" | "base58" | "base85" => {
            bundle('d') || bundle('D') || args.iter().any(|it| it.starts_with("--d"))
        }
        "xxd" => bundle('r') || has(&["-revert"]),
        "openssl" => has(&["-d", "-base64", "base64", "-a", "enc", "zlib"]),
        "gzip" | "bzip2" | "xz" | "zstd" | "lz4" | "lzma" | "brotli" | "lzip" | "compress" | "pigz" | "pbzip2" => {
            bundle('d') || args.iter().any(|it| it.starts_with("--d") || it.starts_with("--unc"))
        }
        "zcat" | "gunzip" | "gzcat" | "bunzip2" | "bzcat" | "xzcat" | "unxz" | "zstdcat" | "unzstd" | "lz4cat" | "unlzma" | "lzcat"
        | "uncompress" | "uudecode" | "rev" | "tr" | "rot13" | "caesar" | "hex2bin" | "unhex" | "ascii85" | "qprint" | "mimencode"
        | "funzip" | "zlib-flate" => true,
        "gpg" | "gpg2" | "age" => bundle('d') || args.iter().any(|it| it.starts_with("--decrypt")),
        "unzip" | "7z" | "7za" => bundle('p') || has(&["-so"]),
        "tar" | "bsdtar" => bundle('O') || has(&["--to-stdout"]),
        "uncompact" | "iconv" => false,
        _ => false,
    }
}

impl Judge {
    /// What a program prints, and where that comes from.
    pub(crate) fn printed(&mut self, name: &str, args: &[Arg], env: &Env, stdin: &Flow) -> Flow {
        let mut taint = Taint::NONE;
        if is_fetcher(name) {
            taint |= Taint::FETCHED;
        }
        if decodes(name, args) {
            taint |= Taint::DECODED;
        }
        let is_named = |word: &str| args.iter().any(|it| it.marked.replace(['[', ']'], "").to_ascii_lowercase().contains(word));
        match name {
            "pgrep" | "pidof" | "pidwait" => taint |= Taint::PROCESSES,
            "gh" if args.first().is_some_and(|it| matches!(it.marked.as_str(), "api" | "gist")) => taint |= Taint::FETCHED,
            "aws" | "gsutil" | "rclone" | "mc" | "s3cmd" if args.iter().any(|it| it.is("-") || it.is("cat")) => taint |= Taint::FETCHED,
            "openssl" if args.first().is_some_and(|it| it.is("s_client")) => taint |= Taint::FETCHED,
            "git" if args.first().is_some_and(|it| it.is("archive")) && is_named("--remote") => taint |= Taint::FETCHED,
            "printenv" if args.iter().all(Arg::is_option) => taint |= Taint::ENVIRONMENT,
            "printenv" if args.iter().any(|it| is_secret_name(&it.marked)) => taint |= Taint::SECRET,
            "security" | "pass" | "gopass" | "bw" | "op" | "secret-tool" if !is_named("list") => {
                if is_named("find-") || is_named("show") || is_named("get") || is_named("read") || is_named("lookup") || name == "pass" {
                    taint |= Taint::SECRET;
                }
            }
            _ => {}
        }
        if is_named("hermes") || is_named("gateway") {
            taint |= Taint::AGENT;
        }
        // Readers print what their operands hold.
        let uses_keys = matches!(
            name,
            "ssh" | "scp" | "sftp" | "rsync" | "git" | "ssh-add" | "ssh-keygen" | "docker" | "podman" | "kubectl" | "curl" | "wget" | "test" | "[" | "ls" | "stat"
                | "chmod" | "chown" | "echo" | "printf" | "rm" | "touch" | "mkdir" | "wc" | "file" | "dirname" | "basename" | "realpath" | "readlink" | "du" | "sha256sum" | "md5sum"
        );
        let mut read = Flow::default();
        let mut has_file = false;
        for arg in args {
            taint |= arg.taint;
            if uses_keys || (arg.is_option() && !arg.is("-")) {
                continue;
            }
            if arg.file.is_some() || arg.marked.contains(['/', '.']) || env.files.len() > 0 {
                let flow = self.file(arg, env);
                has_file |= arg.file.is_some() || flow.is_known();
                taint |= flow.taint;
                if arg.file.is_some() || flow.is_known() {
                    read.push(&flow);
                }
            }
        }
        if name == "tar" || name == "zip" || name == "find" || name == "grep" || name == "rg" {
            for arg in args {
                taint |= self.file(arg, env).taint & Taint::SECRET;
            }
        }
        taint |= stdin.taint;
        let input = if has_file { read } else { stdin.clone() };
        let mut out = evaluate(name, args, &input).unwrap_or_else(Flow::unknown);
        out.taint |= taint;
        if out.text.len() > MOST {
            out.text = HOLE.to_string();
        }
        out
    }
}

/// Names of variables that hold secrets.
fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"].iter().any(|it| name.contains(it))
}

/// The text a program prints; None if it isn't known.
fn evaluate(name: &str, args: &[Arg], input: &Flow) -> Option<Flow> {
    match name {
        "echo" => return Some(echo(args)),
        "printf" => return Some(printf(args)),
        "true" | "false" | ":" | "cd" | "sleep" | "wait" | "mkdir" | "touch" | "rm" | "cp" | "mv" | "ln" | "chmod" | "chown" | "test" | "[" | "set" | "shopt"
        | "umask" | "ulimit" => {
            return Some(Flow::known(""));
        }
        "yes" => {
            let text = if args.is_empty() { "y".to_owned() } else { crate::wrap::join(args) };
            return Some(Flow::known(format!("{text}\n")));
        }
        "basename" | "dirname" => {
            let arg = args.iter().find(|it| !it.is_option())?;
            let text = arg.is_known().then(|| arg.text())?;
            let text = text.trim_end_matches('/');
            let (folder, last) = text.rsplit_once('/').unwrap_or((".", text));
            let folder = if folder.is_empty() { "/" } else { folder };
            let last = match args.get(1) {
                Some(suffix) if name == "basename" && suffix.is_known() => last.strip_suffix(suffix.marked.as_str()).unwrap_or(last),
                _ => last,
            };
            return Some(Flow::known(format!("{}\n", if name == "basename" { last } else { folder })));
        }
        "realpath" | "readlink" => {
            let arg = args.iter().find(|it| !it.is_option())?;
            return arg.is_known().then(|| Flow::known(format!("{}\n", arg.text())));
        }
        "seq" => {
            let numbers: Option<Vec<i64>> = args.iter().map(|it| it.marked.parse().ok()).collect();
            let (from, to) = match numbers?.as_slice() {
                [to] => (1, *to),
                [from, to] => (*from, *to),
                _ => return None,
            };
            let lines: Vec<String> = (from..=to).take(64).map(|it| it.to_string()).collect();
            return Some(Flow::known(lines.join("\n") + "\n"));
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            if let Some(text) = awk_begin(args) {
                return Some(Flow::known(text));
            }
        }
        "python3" | "python" | "perl" | "ruby" | "node" | "php" => {
            return literal_print(args).map(Flow::known);
        }
        _ => {}
    }
    let text = match name {
        "cat" | "tee" | "sponge" | "pv" | "sort" | "uniq" | "tac" | "nl" | "stdbuf" | "column" | "paste" | "less" | "more" | "bat" | "head" | "tail" | "cut"
        | "sed" | "gsed" | "tr" | "rev" | "base64" | "gbase64" | "base32" | "xxd" | "openssl" | "grep" | "egrep" | "fgrep" | "fold" | "expand" | "strings" | "dos2unix" => {
            if !input.is_known() {
                // Parts of it may be known.
                return matches!(name, "cat" | "tee" | "sponge" | "pv").then(|| input.clone());
            }
            input.text.as_str()
        }
        _ => return None,
    };
    let out = match name {
        "cat" => {
            if args.iter().any(|it| it.is_option() && it.marked.contains(['n', 'A', 'e', 'v'])) { None } else { Some(text.to_owned()) }
        }
        "tee" | "sponge" | "pv" | "less" | "more" | "dos2unix" => Some(text.to_owned()),
        "sort" | "uniq" | "column" | "strings" | "expand" if text.lines().count() <= 1 => Some(text.to_owned()),
        "sort" => {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            if args.iter().any(|it| it.is_option() && it.marked.contains('r')) {
                lines.reverse();
            }
            Some(lines.join("\n") + "\n")
        }
        "uniq" => Some(text.to_owned()),
        "paste" => {
            let is_serial = args.iter().any(|it| it.is_option() && it.marked.contains('s'));
            let options = Options::parse(args, Spec::new("d", &["delimiters"]));
            let delimiter = options.value("d", "delimiters").map_or("\t".to_owned(), |it| it.text());
            is_serial.then(|| text.lines().collect::<Vec<_>>().join(&delimiter) + "\n")
        }
        "tac" => Some(text.lines().rev().map(|it| format!("{it}\n")).collect()),
        "rev" => Some(text.lines().map(|it| it.chars().rev().chain(['\n']).collect::<String>()).collect()),
        "head" | "tail" => ends(name == "head", args, text),
        "cut" => cut(args, text),
        "tr" => translate(args, text),
        "sed" | "gsed" => sed(args, text),
        "grep" | "egrep" | "fgrep" => None,
        "base64" | "gbase64" | "base32" | "openssl" if decodes(name, args) => {
            let is_32 = name == "base32";
            let is_plain = name != "openssl" || args.first().is_some_and(|it| it.is("base64")) || args.iter().any(|it| it.is("-base64") || it.is("-a"));
            is_plain.then(|| decode(text, if is_32 { 5 } else { 6 })).flatten()
        }
        "xxd" if decodes(name, args) => hex(text),
        _ => None,
    };
    out.map(Flow::known)
}

fn echo(args: &[Arg]) -> Flow {
    let mut args = args;
    let (mut newline, mut escapes) = (true, false);
    while let Some((first, rest)) = args.split_first() {
        let letters = first.marked.strip_prefix('-').unwrap_or_default();
        if letters.is_empty() || !letters.chars().all(|it| matches!(it, 'n' | 'e' | 'E')) {
            break;
        }
        newline &= !letters.contains('n');
        escapes |= letters.contains('e');
        args = rest;
    }
    let mut text = crate::wrap::join(args);
    // `sh` undoes escapes without being asked.
    if escapes || (text.contains("\\0") || text.contains("\\x")) {
        text = unescape(&text, Escapes::Echo);
    }
    if newline {
        text.push('\n');
    }
    Flow::known(text)
}

pub(crate) fn printf(args: &[Arg]) -> Flow {
    let args = if args.first().is_some_and(|it| it.is("--")) { args.get(1..).unwrap_or_default() } else { args };
    let Some((format, values)) = args.split_first() else { return Flow::known("") };
    let format = format.text();
    let mut out = String::new();
    let mut values = values.iter();
    loop {
        let before = values.len();
        let mut literal = String::new();
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\\' {
                literal.push(c);
                literal.extend(chars.next());
                continue;
            }
            if c != '%' {
                literal.push(c);
                continue;
            }
            if chars.peek() == Some(&'%') {
                chars.next();
                literal.push('%');
                continue;
            }
            out.push_str(&unescape(&std::mem::take(&mut literal), Escapes::Format));
            let mut kind = None;
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    kind = Some(c);
                    break;
                }
            }
            let value = values.next().map(Arg::text).unwrap_or_default();
            let number = || number(&value);
            match kind {
                Some('b') => out.push_str(&unescape(&value, Escapes::Echo)),
                Some('c') => out.extend(value.chars().next()),
                Some('d' | 'i' | 'u') => out.push_str(&number().map_or_else(|| HOLE.to_string(), |it| it.to_string())),
                Some('x') => out.push_str(&number().map_or_else(|| HOLE.to_string(), |it| format!("{it:x}"))),
                Some('X') => out.push_str(&number().map_or_else(|| HOLE.to_string(), |it| format!("{it:X}"))),
                Some('o') => out.push_str(&number().map_or_else(|| HOLE.to_string(), |it| format!("{it:o}"))),
                _ => out.push_str(&value),
            }
        }
        out.push_str(&unescape(&literal, Escapes::Format));
        if values.len() == 0 || values.len() == before || out.len() > MOST {
            break;
        }
    }
    Flow::known(out)
}

/// A number as `printf` reads it: `0x2f`, `057`, `'a`.
fn number(text: &str) -> Option<i64> {
    if let Some(c) = text.strip_prefix(['\'', '"']) {
        return c.chars().next().map(|it| i64::from(u32::from(it)));
    }
    if text.is_empty() {
        return Some(0);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') {
        return i64::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

/// `head` and `tail`.
fn ends(is_head: bool, args: &[Arg], text: &str) -> Option<String> {
    let options = Options::parse(args, Spec::new("nc", &["lines", "bytes"]));
    if let Some(count) = options.value("c", "bytes") {
        let count = &count.marked;
        let length = text.len();
        let range = match (is_head, count.strip_prefix('+'), count.strip_prefix('-')) {
            (true, _, Some(less)) => 0..length.saturating_sub(less.parse().ok()?),
            (true, ..) => 0..count.parse::<usize>().ok()?.min(length),
            (false, Some(from), _) => from.parse::<usize>().ok()?.saturating_sub(1).min(length)..length,
            (false, ..) => length.saturating_sub(count.trim_start_matches('-').parse().ok()?)..length,
        };
        return text.get(range).map(str::to_owned);
    }
    let lines: Vec<&str> = text.lines().collect();
    let given = options.value("n", "lines").map(|it| it.marked.clone());
    let short = args.iter().find_map(|it| it.marked.strip_prefix('-').filter(|it| it.bytes().all(|it| it.is_ascii_digit()) && !it.is_empty()));
    let count = given.or_else(|| short.map(str::to_owned)).unwrap_or_else(|| "10".to_owned());
    let range = match (is_head, count.strip_prefix('+'), count.strip_prefix('-')) {
        (true, _, Some(less)) => 0..lines.len().saturating_sub(less.parse().ok()?),
        (true, ..) => 0..count.parse::<usize>().ok()?.min(lines.len()),
        (false, Some(from), _) => from.parse::<usize>().ok()?.saturating_sub(1).min(lines.len())..lines.len(),
        (false, ..) => lines.len().saturating_sub(count.trim_start_matches('-').parse().ok()?)..lines.len(),
    };
    let lines = lines.get(range)?;
    Some(lines.iter().map(|it| format!("{it}\n")).collect())
}

/// `cut -c`, `cut -b` and `cut -d -f`.
fn cut(args: &[Arg], text: &str) -> Option<String> {
    let options = Options::parse(args, Spec::new("cbfd", &["characters", "bytes", "fields", "delimiter"]));
    let delimiter = options.value("d", "delimiter").map(|it| it.text());
    let list = options.value("cb", "characters").or_else(|| options.value("f", "fields"))?.marked.clone();
    let is_field = options.value("cb", "characters").is_none();
    let mut ranges = Vec::new();
    for part in list.split(',') {
        let (from, to) = match part.split_once('-') {
            Some((from, to)) => (
                if from.is_empty() { 1 } else { from.parse().ok()? },
                if to.is_empty() { usize::MAX } else { to.parse().ok()? },
            ),
            None => (part.parse().ok()?, part.parse().ok()?),
        };
        ranges.push(from..=to);
    }
    let is_wanted = |index: usize| ranges.iter().any(|it: &std::ops::RangeInclusive<usize>| it.contains(&(index + 1)));
    let mut out = String::new();
    for line in text.lines() {
        if is_field {
            let delimiter = delimiter.as_deref().unwrap_or("\t");
            let parts: Vec<&str> = line.split(delimiter).enumerate().filter(|(index, _)| is_wanted(*index)).map(|(_, it)| it).collect();
            out.push_str(&parts.join(delimiter));
        } else {
            out.extend(line.chars().enumerate().filter(|(index, _)| is_wanted(*index)).map(|(_, it)| it));
        }
        out.push('\n');
    }
    Some(out)
}

/// `tr` with sets, ranges, `-d`, `-c` aside.
fn translate(args: &[Arg], text: &str) -> Option<String> {
    let options = Options::parse(args, Spec::default());
    let mut sets = options.operands.iter().map(|it| set(&it.text()));
    let first = sets.next()??;
    if options.has("cC") || options.long("complement", 1) {
        return None;
    }
    if options.has("d") || options.long("delete", 1) {
        return Some(text.chars().filter(|it| !first.contains(it)).collect());
    }
    let second = match sets.next() {
        Some(second) => second?,
        None => return options.has("s").then(|| text.to_owned()),
    };
    let change = |c: char| {
        let Some(at) = first.iter().rposition(|it| *it == c) else { return c };
        second.get(at).or_else(|| second.last()).copied().unwrap_or(c)
    };
    Some(text.chars().map(change).collect())
}

/// A set of `tr`.
fn set(text: &str) -> Option<Vec<char>> {
    let text = unescape(text, Escapes::Format);
    match text.as_str() {
        "[:lower:]" => return Some(('a'..='z').collect()),
        "[:upper:]" => return Some(('A'..='Z').collect()),
        "[:space:]" => return Some(vec![' ', '\t', '\n', '\r']),
        "[:digit:]" => return Some(('0'..='9').collect()),
        _ if text.contains("[:") => return None,
        _ => {}
    }
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(last)) if last >= c => {
                out.extend((*c..=*last).take(512));
                at += 3;
            }
            _ => {
                out.push(*c);
                at += 1;
            }
        }
    }
    Some(out)
}

/// `sed s/a/b/` on plain text.
fn sed(args: &[Arg], text: &str) -> Option<String> {
    let options = Options::parse(args, Spec::new("ef", &["expression", "file"]));
    let mut scripts: Vec<String> = options.values("e", "expression").iter().map(|it| it.text()).collect();
    if scripts.is_empty() {
        scripts.push(options.operands.first()?.text());
    }
    if options.has("n") {
        return None;
    }
    let mut text = text.to_owned();
    for script in scripts.iter().flat_map(|it| it.split(';')) {
        let script = script.trim();
        let rest = script.strip_prefix('s')?;
        let delimiter = rest.chars().next()?;
        let mut parts = rest.get(delimiter.len_utf8()..)?.split(delimiter);
        let (from, to, flags) = (parts.next()?, parts.next()?, parts.next().unwrap_or_default());
        let is_plain = !from.contains(['[', '*', '.', '\\', '(']) && !to.contains(['&', '\\']);
        let change = |line: &str| -> Option<String> {
            if is_plain && !from.starts_with('^') && !from.ends_with('$') {
                return Some(if flags.contains('g') { line.replace(from, to) } else { line.replacen(from, to, 1) });
            }
            let pattern = from.replace("\\(", "(").replace("\\)", ")").replace("\\+", "+");
            let regex = regex::RegexBuilder::new(&pattern).size_limit(1 << 16).build().ok()?;
            let to = to.replace('$', "$$").replace("\\1", "${1}").replace("\\2", "${2}").replace('&', "${0}");
            Some(if flags.contains('g') { regex.replace_all(line, to.as_str()) } else { regex.replace(line, to.as_str()) }.into_owned())
        };
        let lines: Option<Vec<String>> = text.lines().map(change).collect();
        text = lines?.join("\n") + "\n";
    }
    Some(text)
}

/// Base64 or base32 as text.
pub(crate) fn decode(text: &str, bits: u32) -> Option<String> {
    String::from_utf8(decode_bytes(text, bits)?).ok()
}

pub(crate) fn decode_bytes(text: &str, bits: u32) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut buffer, mut have) = (0_u32, 0);
    for byte in text.bytes().filter(|it| !it.is_ascii_whitespace()) {
        let value = match (byte, bits) {
            (b'=', _) => break,
            (b'A'..=b'Z', _) => byte - b'A',
            (b'2'..=b'7', 5) => byte - b'2' + 26,
            (b'a'..=b'z', 6) => byte - b'a' + 26,
            (b'0'..=b'9', 6) => byte - b'0' + 52,
            (b'+' | b'-', 6) => 62,
            (b'/' | b'_', 6) => 63,
            _ => return None,
        };
        buffer = (buffer << bits) | u32::from(value);
        have += bits;
        if have >= 8 {
            have -= 8;
            out.push((buffer >> have) as u8);
            buffer &= (1 << have) - 1;
        }
    }
    Some(out)
}

/// `xxd -r -p`.
fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> = text.chars().filter(|it| !it.is_whitespace()).map(|it| it.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |sum, it| sum * 16 + it) as u8).collect();
    String::from_utf8(bytes).ok()
}

/// `awk 'BEGIN{printf "..."}'`.
fn awk_begin(args: &[Arg]) -> Option<String> {
    let script = args.iter().find(|it| !it.is_option())?.text();
    let body = script.trim().strip_prefix("BEGIN")?.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let (body, newline) = match body.strip_prefix("printf") {
        Some(rest) => (rest, ""),
        None => (body.strip_prefix("print")?, "\n"),
    };
    let inner = body.trim().trim_end_matches(';').trim().trim_start_matches('(').trim_end_matches(')').strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('"')).then(|| unescape(inner, Escapes::Format) + newline)
}

/// `python -c 'print("text")'` and its like, if that is all it does.
fn literal_print(args: &[Arg]) -> Option<String> {
    let at = args.iter().position(|it| matches!(it.marked.as_str(), "-c" | "-e" | "-r" | "-p" | "-E"))?;
    let script = args.get(at + 1)?.text();
    let script = script.trim().trim_end_matches(';');
    let rest = ["console.log", "print", "puts", "echo", "say", "printf"].iter().find_map(|it| script.strip_prefix(it))?;
    let rest = rest.trim().trim_start_matches('(').trim_end_matches(')').trim();
    let quote = rest.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let inner = rest.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(quote)).then(|| unescape(inner, Escapes::Ansi) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, args: &[&str], input: &str) -> Option<String> {
        let args: Vec<Arg> = args.iter().map(|it| Arg::new(it)).collect();
        evaluate(name, &args, &Flow::known(input)).map(|it| it.text)
    }

    #[test]
    fn texts() {
        for (name, args, input, expected) in [
            ("echo", &["-ne", "\\x72m"][..], "", "rm"),
            ("printf", &["%s-%s\n", "a", "b", "c"], "", "a-b\nc-\n"),
            ("printf", &["\\162\\155"], "", "rm"),
            ("printf", &["\\x%x", "114"], "", "\\x72"),
            ("rev", &[], "mr\n", "rm\n"),
            ("base64", &["-d"], "cm0gLXJmIH4=", "rm -rf ~"),
            ("base32", &["-d"], "OJWQ====", "rm"),
            ("xxd", &["-r", "-p"], "726d", "rm"),
            ("tr", &["a-y", "b-z"], "ql", "rm"),
            ("tr", &["-d", "x"], "rxm", "rm"),
            ("sed", &["s/X/r/"], "Xm\n", "rm\n"),
            ("cut", &["-c2-3"], "xrmx\n", "rm\n"),
            ("head", &["-n1"], "a\nb\n", "a\n"),
            ("tail", &["-c", "3"], "abcd", "bcd"),
            ("awk", &["BEGIN{printf \"rm\"}"], "", "rm"),
            ("python3", &["-c", "print('rm')"], "", "rm\n"),
        ] {
            assert_eq!(run(name, args, input).as_deref(), Some(expected), "{name} {args:?}");
        }
    }
}
