//! What programs print, where that can be known without running them.

mod text;

use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::{Arg, FRESH, Flow, HOLE, Taint};

use text::{awk_begin, cut, echo, ends, literal_print, sed, translate};
pub(crate) use text::{decode, decode_bytes, delimited, hex, printf};

/// Longest text that is made, in bytes.
const MOST: usize = 64 * 1024;

/// Programs that fetch from the network and print.
pub(crate) fn is_fetcher(name: &str) -> bool {
    matches!(
        name,
        "curl"
            | "wget"
            | "wget2"
            | "http"
            | "https"
            | "xh"
            | "xhs"
            | "httpie"
            | "fetch"
            | "aria2c"
            | "axel"
            | "nc"
            | "ncat"
            | "netcat"
            | "nc.openbsd"
            | "nc.traditional"
            | "socat"
            | "lynx"
            | "w3m"
            | "links"
            | "elinks"
            | "ftp"
            | "tftp"
            | "lftp"
            | "sftp"
            | "telnet"
            | "dig"
            | "nslookup"
            | "drill"
            | "host"
            | "curlie"
            | "hurl"
            | "rsh"
            | "finger"
            | "whois"
            | "Invoke-WebRequest"
            | "iwr"
            | "invoke-webrequest"
            | "irm"
            | "invoke-restmethod"
            | "lwp-request"
            | "GET"
            | "snarf"
            | "gist"
            | "ipfs"
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
        "gzip" | "bzip2" | "xz" | "zstd" | "lz4" | "lzma" | "brotli" | "lzip" | "compress"
        | "pigz" | "pbzip2" => {
            bundle('d') || args.iter().any(|it| it.starts_with("--d") || it.starts_with("--unc"))
        }
        "zcat" | "gunzip" | "gzcat" | "bunzip2" | "bzcat" | "xzcat" | "unxz" | "zstdcat"
        | "unzstd" | "lz4cat" | "unlzma" | "lzcat" | "uncompress" | "uudecode" | "rev" | "tr"
        | "rot13" | "caesar" | "hex2bin" | "unhex" | "ascii85" | "qprint" | "mimencode"
        | "funzip" | "zlib-flate" => true,
        // The texts of a document, without the quotes around them.
        "jq" | "yq" | "gojq" | "jaq" | "xq" => {
            bundle('r') || bundle('j') || args.iter().any(|it| it.starts_with("--raw-output"))
        }
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
        let is_named = |word: &str| args.iter().any(|it| names(&it.marked, word));
        match name {
            "pgrep" | "pidof" | "pidwait" => taint |= Taint::PROCESSES,
            "gh" if args.first().is_some_and(|it| matches!(it.marked.as_str(), "api" | "gist")) => {
                taint |= Taint::FETCHED;
            }
            "aws" | "gsutil" | "rclone" | "mc" | "s3cmd"
                if args.iter().any(|it| it.is("-") || it.is("cat")) =>
            {
                taint |= Taint::FETCHED;
            }
            "openssl" if args.first().is_some_and(|it| it.is("s_client")) => {
                taint |= Taint::FETCHED;
            }
            "git" if args.first().is_some_and(|it| it.is("archive")) && is_named("--remote") => {
                taint |= Taint::FETCHED;
            }
            "printenv" if args.iter().all(Arg::is_option) => taint |= Taint::ENVIRONMENT,
            "printenv" if args.iter().any(|it| is_secret_name(&it.marked)) => {
                taint |= Taint::SECRET;
            }
            "security" | "pass" | "gopass" | "bw" | "op" | "secret-tool"
                if !is_named("list")
                    && (is_named("find-")
                        || is_named("show")
                        || is_named("get")
                        || is_named("read")
                        || is_named("lookup")
                        || name == "pass") =>
            {
                taint |= Taint::SECRET;
            }
            _ => {}
        }
        if is_named("hermes") || is_named("gateway") {
            taint |= Taint::AGENT;
        }
        // Readers print what their operands hold.
        let uses_keys = matches!(
            name,
            "ssh"
                | "scp"
                | "sftp"
                | "rsync"
                | "git"
                | "ssh-add"
                | "ssh-keygen"
                | "docker"
                | "podman"
                | "kubectl"
                | "curl"
                | "wget"
                | "test"
                | "["
                | "ls"
                | "stat"
                | "chmod"
                | "chown"
                | "echo"
                | "printf"
                | "rm"
                | "touch"
                | "mkdir"
                | "wc"
                | "file"
                | "dirname"
                | "basename"
                | "realpath"
                | "readlink"
                | "du"
                | "sha256sum"
                | "md5sum"
        );
        let mut read = Flow::default();
        let mut has_file = false;
        let mut program = stdin.program.clone();
        for arg in args {
            taint |= arg.taint;
            if uses_keys || (arg.is_option() && !arg.is("-")) {
                continue;
            }
            if arg.file.is_some() || arg.marked.contains(['/', '.']) || !env.files.is_empty() {
                let flow = self.file(arg, env);
                has_file |= arg.file.is_some() || flow.is_known();
                taint |= flow.taint;
                program = flow.program.clone().or(program);
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
        taint |= stdin.taint.without(Taint::TERMINAL);
        let input = if has_file { read } else { stdin.clone() };
        if name == "pwd"
            && let Some(cwd) = &env.cwd
        {
            return Flow::known(format!("{cwd}\n"));
        }
        let is_followed = self.prints(input.text.len());
        let out = is_followed.then(|| evaluate(name, args, &input)).flatten();
        let mut out = out.unwrap_or_else(Flow::unknown);
        out.taint |= taint;
        out.program = program.filter(|_| keeps_bytes(name));
        if out.text.len() > MOST {
            out.text = HOLE.to_string();
        }
        out
    }
}

/// Whether a word in lower case is in a text, whatever its case; `[w]ord` is it too.
fn names(text: &str, word: &str) -> bool {
    let Some(first) = word.bytes().next() else { return true };
    let has_first = memchr::memchr2(first, first.to_ascii_uppercase(), text.as_bytes()).is_some();
    has_first && text.replace(['[', ']'], "").to_ascii_lowercase().contains(word)
}

/// Programs that print what they read, or after which another such one gives it back.
fn keeps_bytes(name: &str) -> bool {
    matches!(
        name,
        "cat"
            | "tee"
            | "sponge"
            | "pv"
            | "dd"
            | "head"
            | "tail"
            | "tac"
            | "rev"
            | "base64"
            | "base32"
            | "xxd"
            | "openssl"
            | "gzip"
            | "gunzip"
            | "zcat"
            | "bzip2"
            | "bunzip2"
            | "bzcat"
            | "xz"
            | "unxz"
            | "xzcat"
            | "zstd"
            | "unzstd"
            | "zstdcat"
            | "lz4"
            | "gpg"
            | "buffer"
            | "mbuffer"
    )
}

/// Names of variables that hold secrets.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"].iter().any(|it| name.contains(it))
}

/// Where the shell would find the first of these programs.
pub(crate) fn place_of(programs: &[Arg]) -> Flow {
    let known = programs.iter().find(|it| !it.is_option()).filter(|it| it.is_known());
    known.map_or_else(Flow::unknown, |it| {
        let name = it.text();
        Flow::known(if name.contains('/') { name } else { format!("/usr/bin/{name}") })
    })
}

/// The name of the folder or file that `mktemp` makes.
fn fresh(args: &[Arg]) -> Option<Flow> {
    let options = Options::parse(args, Spec::new("p", &["suffix"]));
    if options.has("u") || options.long("dry-run", 2) {
        return None;
    }
    let template = options.operands.first().map(Arg::text).unwrap_or_default();
    let folder = template.rsplit_once('/').map_or("/tmp", |(folder, _)| folder);
    let folder = options.value("p", "tmpdir").map_or_else(|| folder.to_owned(), Arg::text);
    Some(Flow::known(format!("{folder}/tmp.{FRESH}\n")))
}

/// The text a program prints; None if it isn't known.
fn evaluate(name: &str, args: &[Arg], input: &Flow) -> Option<Flow> {
    match name {
        "echo" => return Some(echo(args)),
        "printf" => return Some(printf(args)),
        "true" | "false" | ":" | "cd" | "sleep" | "wait" | "mkdir" | "touch" | "rm" | "cp"
        | "mv" | "ln" | "chmod" | "chown" | "test" | "[" | "set" | "shopt" | "umask" | "ulimit" => {
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
                Some(suffix) if name == "basename" && suffix.is_known() => {
                    last.strip_suffix(suffix.marked.as_str()).unwrap_or(last)
                }
                _ => last,
            };
            return Some(Flow::known(format!(
                "{}\n",
                if name == "basename" { last } else { folder }
            )));
        }
        "realpath" | "readlink" => {
            let arg = args.iter().find(|it| !it.is_option())?;
            return arg.is_known().then(|| Flow::known(format!("{}\n", arg.text())));
        }
        "type" if args.first().is_some_and(|it| it.is("-P") || it.is("-p")) => {
            return Some(place_of(args));
        }
        "which" => return Some(place_of(args)),
        "mktemp" => return fresh(args),
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
        "cat" | "tee" | "sponge" | "pv" | "sort" | "uniq" | "tac" | "nl" | "stdbuf" | "column"
        | "paste" | "less" | "more" | "bat" | "head" | "tail" | "cut" | "sed" | "gsed" | "tr"
        | "rev" | "base64" | "gbase64" | "base32" | "xxd" | "openssl" | "grep" | "egrep"
        | "fgrep" | "fold" | "expand" | "strings" | "dos2unix" => {
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
            if args.iter().any(|it| it.is_option() && it.marked.contains(['n', 'A', 'e', 'v'])) {
                None
            } else {
                Some(text.to_owned())
            }
        }
        "tee" | "sponge" | "pv" | "less" | "more" | "dos2unix" => Some(text.to_owned()),
        "sort" | "uniq" | "column" | "strings" | "expand" if text.lines().count() <= 1 => {
            Some(text.to_owned())
        }
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
            let delimiter = options.value("d", "delimiters").map_or("\t".to_owned(), Arg::text);
            is_serial.then(|| text.lines().collect::<Vec<_>>().join(&delimiter) + "\n")
        }
        "tac" => Some(text.lines().rev().map(|it| format!("{it}\n")).collect()),
        "rev" => Some(
            text.lines().map(|it| it.chars().rev().chain(['\n']).collect::<String>()).collect(),
        ),
        "head" | "tail" => ends(name == "head", args, text),
        "cut" => cut(args, text),
        "tr" => translate(args, text),
        "sed" | "gsed" => sed(args, text),
        "grep" | "egrep" | "fgrep" => None,
        "base64" | "gbase64" | "base32" | "openssl" if decodes(name, args) => {
            let is_32 = name == "base32";
            let is_plain = name != "openssl"
                || args.first().is_some_and(|it| it.is("base64"))
                || args.iter().any(|it| it.is("-base64") || it.is("-a"));
            is_plain.then(|| decode(text, if is_32 { 5 } else { 6 })).flatten()
        }
        "xxd" if decodes(name, args) => hex(text),
        _ => None,
    };
    out.map(Flow::known)
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
