//! What goes out to the network and what comes in from it.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::{Loss, resolve};
use crate::value::{Arg, Flow, Taint};
use crate::wrap::Io;

const LEAKS: [Taint; 2] = [Taint::SECRET, Taint::ENVIRONMENT];

const CURL: Spec = Spec::new(
    "AbcCdDeEFHhKmoPQrtTuUwxXyYz",
    &[
        "user-agent",
        "cookie",
        "cookie-jar",
        "continue-at",
        "data",
        "data-ascii",
        "data-binary",
        "data-raw",
        "data-urlencode",
        "dump-header",
        "referer",
        "cert",
        "form",
        "form-string",
        "header",
        "config",
        "max-time",
        "output",
        "output-dir",
        "quote",
        "range",
        "upload-file",
        "user",
        "proxy",
        "request",
        "write-out",
        "url",
        "json",
        "key",
        "cacert",
        "connect-timeout",
        "retry",
        "resolve",
        "interface",
        "limit-rate",
        "proxy-user",
        "max-redirs",
        "url-query",
        "unix-socket",
        "etag-save",
        "trace",
        "trace-ascii",
        "stderr",
        "capath",
        "oauth2-bearer",
        "retry-delay",
        "retry-max-time",
        "connect-to",
        "dns-servers",
        "doh-url",
        "ciphers",
        "variable",
        "expand-data",
        "aws-sigv4",
        "netrc-file",
        "socks5",
        "socks5-hostname",
    ],
);

const WGET: Spec = Spec::new(
    "aBeiIlnoOPQtTUwXADRY",
    &[
        "output-document",
        "directory-prefix",
        "post-data",
        "post-file",
        "body-data",
        "body-file",
        "header",
        "user-agent",
        "tries",
        "timeout",
        "input-file",
        "output-file",
        "append-output",
        "user",
        "password",
        "method",
        "load-cookies",
        "save-cookies",
        "level",
        "accept",
        "reject",
        "domains",
        "execute",
        "use-askpass",
    ],
);

impl Judge {
    pub(crate) fn exfiltration(&mut self) {
        let why = "Sends keys, passwords or the environment to another machine.";
        self.find("exfiltration", Category::Other, false, why);
    }

    fn leaks(&self, taint: Taint) -> bool {
        LEAKS.into_iter().any(|it| taint.has(it))
    }

    /// Programs that talk to other machines.
    pub(super) fn network(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        // What is substituted into a request leaves with it.
        let in_arguments = args.iter().any(|it| self.leaks(it.taint));
        let is_connection = matches!(
            name,
            "nc" | "ncat" | "netcat" | "socat" | "telnet" | "openssl" | "websocat" | "ssh"
        );
        if is_connection && io.stdin.taint.has(Taint::SHELL) {
            self.reverse_shell();
        }
        self.escapes_of_client(name, args, env, io);
        self.serves(name, args, env);
        match name {
            "curl" | "curlie" => self.curl(args, env, io),
            "wget" | "wget2" => self.wget(args, env, io),
            "http" | "https" | "xh" | "xhs" | "httpie" => {
                let is_sent = args.iter().any(|it| {
                    let file = it
                        .marked
                        .split_once('@')
                        .or_else(|| it.marked.split_once("=@"))
                        .or_else(|| it.marked.split_once(":=@"))
                        .map(|(_, file)| file);
                    file.is_some_and(|file| {
                        !it.starts_with("http") && self.leaks(self.file(&Arg::new(file), env).taint)
                    })
                });
                if is_sent || in_arguments || self.leaks(io.stdin.taint) {
                    self.exfiltration();
                }
                let options = Options::parse(args, Spec::new("oasA", &["output", "auth"]));
                if let Some(file) = options.value("o", "output").cloned() {
                    self.download(&file, env);
                }
            }
            "nc" | "ncat" | "netcat" | "nc.openbsd" | "nc.traditional" | "socat" | "telnet"
            | "pwncat" | "cryptcat" => self.netcat(name, args, env, io),
            "openssl"
                if args.first().is_some_and(|it| it.is("s_client"))
                    && self.leaks(io.stdin.taint) =>
            {
                self.exfiltration();
            }
            "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" | "ftp" | "tftp"
            | "lftp" | "sftp" | "croc" | "wormhole" | "magic-wormhole" | "transfer" | "dig"
            | "nslookup" | "host" | "drill" | "ping" | "logger" | "pastebinit" | "termbin"
            | "ix" | "slackcat" | "telegram-send" | "ntfy" | "rsh" | "smbclient" | "gist"
            | "wscat" | "websocat" | "mosquitto_pub" | "nats" | "kcat" | "traceroute" => {
                let named = args.iter().any(|it| {
                    let text = it.marked.trim_start_matches('@');
                    text.contains(['/', '.'])
                        && self.file(&Arg::new(text), env).taint.has(Taint::SECRET)
                });
                let by_command = args.iter().any(|it| {
                    it.marked.split_whitespace().any(|word| {
                        word.contains('/')
                            && it.marked.contains("put")
                            && self.file(&Arg::new(word), env).taint.has(Taint::SECRET)
                    })
                });
                if in_arguments || self.leaks(io.stdin.taint) || named || by_command {
                    self.exfiltration();
                }
            }
            "aws" | "gsutil" | "gcloud" | "az" | "rclone" | "s3cmd" | "mc" | "azcopy" | "b2"
            | "gh" => {
                let uploads = args.iter().any(|it| {
                    it.marked.contains("://")
                        || it.marked.contains(':')
                        || matches!(
                            it.marked.as_str(),
                            "upload" | "create" | "put-object" | "copy" | "cp" | "sync"
                        )
                });
                if uploads {
                    self.sends_secret(args, env);
                }
                if self.leaks(io.stdin.taint) && args.iter().any(|it| it.is("-") || it.is("cp")) {
                    self.exfiltration();
                }
            }
            "git" => {}
            "aria2c" | "axel" => {
                let options = Options::parse(args, Spec::new("odxsj", &["out", "dir"]));
                let folder = options.value("d", "dir").map(Arg::text);
                if let Some(file) =
                    options.value("o", "out").or(options.value("", "output")).cloned()
                {
                    let file = folder.map_or_else(
                        || file.clone(),
                        |folder| Arg::new(&format!("{folder}/{}", file.marked)),
                    );
                    self.download(&file, env);
                } else if let Some(url) = options.operands.first() {
                    self.download_named(url, folder.as_deref(), env);
                }
            }
            "gpg" | "tar" | "zip" => {}
            _ => {}
        }
        if io.is_network && crate::interp::language(name).is_some() {
            self.reverse_shell();
        }
    }

    /// Lines that a client hands to a shell of this machine.
    fn escapes_of_client(&mut self, name: &str, args: &[Arg], env: &Env, io: &Io) {
        let texts: Vec<String> = match name {
            "ftp" | "sftp" | "telnet" | "tnftp" => vec![io.stdin.text.clone()],
            "mail" | "mailx" => vec![io.stdin.text.replace("~!", "!")],
            "lftp" | "smbclient" => {
                let options = Options::parse(args, Spec::new("ceUuWIpsfANo", &["command"]));
                let given = options.values("ce", "command").into_iter().map(Arg::text);
                given.chain([io.stdin.text.clone()]).collect()
            }
            _ => return,
        };
        for line in texts.iter().flat_map(|it| it.split(['\n', ';'])).take(256) {
            if let Some(script) = line.trim_start().strip_prefix('!') {
                self.script(script, env);
            }
        }
    }

    /// Servers of files: what is in their folder is there for whoever asks.
    fn serves(&mut self, name: &str, args: &[Arg], env: &Env) {
        let after = |option: &str| {
            let at = args.iter().position(|it| it.is(option))?;
            args.get(at + 1).cloned()
        };
        let (folder, address) = match name {
            _ if name.starts_with("python")
                && after("-m")
                    .is_some_and(|it| it.is("http.server") || it.is("SimpleHTTPServer")) =>
            {
                let joined = args.iter().find_map(|it| {
                    it.marked.strip_prefix("--directory=").map(|folder| it.with(folder))
                });
                let folder = after("--directory").or_else(|| after("-d")).or(joined);
                (folder, after("--bind").or_else(|| after("-b")))
            }
            "php" => {
                let Some(address) = after("-S") else { return };
                (after("-t"), Some(address))
            }
            "http-server" | "serve" => {
                let options = Options::parse(args, Spec::new("aplc", &["listen", "port"]));
                (options.operands.first().cloned(), after("-a"))
            }
            _ => return,
        };
        let is_local = |it: &Arg| {
            ["127.", "localhost", "::1", "[::1]"].iter().any(|local| it.starts_with(local))
        };
        if address.as_ref().is_some_and(is_local) {
            return;
        }
        let path = resolve(&folder.unwrap_or_else(|| Arg::new(".")), env);
        if path.is_secret(&self.homes) || path.loss(env, &self.homes) == Loss::All {
            let why = "Lets other machines read keys, passwords or a person's files.";
            self.find("exfiltration", Category::Other, false, why);
        }
    }

    /// Operands that are secret files, for programs that upload.
    pub(super) fn sends_secret(&mut self, args: &[Arg], env: &Env) -> bool {
        // What comes last is where it goes.
        let sources: Vec<&Arg> =
            args.iter().filter(|it| !it.is_option() && !it.marked.contains("://")).collect();
        if sources
            .iter()
            .any(|it| it.marked.contains(['/', '.']) && self.file(it, env).taint.has(Taint::SECRET))
        {
            self.exfiltration();
            return true;
        }
        false
    }

    fn curl(&mut self, args: &[Arg], env: &mut Env, io: &Io) {
        let options = Options::parse(args, CURL);
        let mut sends = false;
        for data in options.values("d", "data").into_iter().chain(
            ["data-binary", "data-ascii", "data-urlencode", "json", "expand-data"]
                .into_iter()
                .flat_map(|it| options.values("", it)),
        ) {
            sends |= self.leaks(data.taint);
            if let Some((_, file)) = data.marked.split_once('@') {
                sends |= self.sent_file(file, env, io);
            }
        }
        for form in options.values("F", "form") {
            sends |= self.leaks(form.taint);
            if let Some((_, value)) = form.marked.split_once('=')
                && let Some(file) = value.strip_prefix(['@', '<'])
            {
                let file = file.split(';').next().unwrap_or_default();
                sends |= self.sent_file(file, env, io);
            }
        }
        for file in options.values("T", "upload-file") {
            sends |= self.sent_file(&file.marked, env, io) || self.leaks(file.taint);
        }
        for text in options
            .values("HAebuX", "header")
            .into_iter()
            .chain(&options.operands)
            .chain(options.values("", "data-raw"))
            .chain(options.values("", "url"))
            .chain(options.values("", "user"))
            .chain(options.values("", "url-query"))
        {
            sends |= self.leaks(text.taint);
        }
        if sends || self.gives_key_away(args, &options, io) {
            self.exfiltration();
        }
        let folder = options.value("", "output-dir").map(Arg::text);
        let url = options.operands.first().or(options.value("", "url")).cloned();
        for file in options.values("o", "output") {
            let file = match &folder {
                Some(folder) if !file.starts_with("/") => {
                    Arg::new(&format!("{folder}/{}", file.marked))
                }
                _ => file.clone(),
            };
            self.download(&file, env);
        }
        for file in options
            .values("Dc", "dump-header")
            .into_iter()
            .chain(options.values("", "cookie-jar"))
            .chain(options.values("", "trace"))
        {
            self.judge_write(&file.clone(), env);
        }
        if (options.has("O")
            || options.long("remote-name", 8)
            || options.long("remote-name-all", 8))
            && let Some(url) = url
        {
            self.download_named(&url, folder.as_deref(), env);
        }
    }

    /// Whether the key of a service goes to somebody else.
    fn gives_key_away(&self, args: &[Arg], options: &Options, io: &Io) -> bool {
        let has_key = args.iter().any(|it| it.taint.has(Taint::KEY));
        let addresses = options.operands.iter().chain(options.values("", "url"));
        (has_key || io.stdin.taint.has(Taint::KEY))
            && self.is_foreign(&addresses.cloned().collect::<Vec<_>>())
    }

    /// Whether a file that is sent is secret; `-` is standard input.
    fn sent_file(&self, file: &str, env: &Env, io: &Io) -> bool {
        if matches!(file, "-" | "." | "/dev/stdin") {
            return self.leaks(io.stdin.taint);
        }
        self.leaks(self.file(&Arg::new(file), env).taint)
    }

    fn wget(&mut self, args: &[Arg], env: &mut Env, io: &Io) {
        let options = Options::parse(args, WGET);
        let mut sends = args.iter().any(|it| self.leaks(it.taint));
        for file in
            options.values("", "post-file").into_iter().chain(options.values("", "body-file"))
        {
            sends |= self.sent_file(&file.marked, env, io);
        }
        if sends || self.gives_key_away(args, &options, io) {
            self.exfiltration();
        }
        let folder = options.value("P", "directory-prefix").map(Arg::text);
        if let Some(file) = options.value("O", "output-document").cloned() {
            if !file.is("-") {
                self.download(&file, env);
            }
        } else {
            for url in options.operands.iter().take(8) {
                self.download_named(url, folder.as_deref(), env);
            }
        }
    }

    /// A file that is written with what was fetched.
    fn download(&mut self, file: &Arg, env: &mut Env) {
        if file.is("-") || file.is("/dev/stdout") {
            return;
        }
        self.judge_write(file, env);
        let path = resolve(file, env);
        env.write(&path.path, &Flow::tainted(Taint::FETCHED), false);
    }

    /// The same, under the last part of the address.
    fn download_named(&mut self, url: &Arg, folder: Option<&str>, env: &mut Env) {
        let text = url.marked.split(['?', '#']).next().unwrap_or_default();
        let (_, path) = text.split_once("://").unwrap_or(("", text));
        let name = path.rsplit_once('/').map_or("index.html", |(_, name)| name);
        let name = if name.is_empty() { "index.html" } else { name };
        let file = folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
        self.download(&Arg::new(&file), env);
    }

    fn netcat(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        // These talk to no service.
        let is_key = io.stdin.taint.has(Taint::KEY);
        if is_key || self.leaks(io.stdin.taint) || args.iter().any(|it| self.leaks(it.taint)) {
            self.exfiltration();
        }
        if name == "socat" {
            for arg in args {
                let lower = arg.marked.to_ascii_lowercase();
                let has = |it: &str| lower.starts_with(it) || lower.contains(&format!("!!{it}"));
                if has("exec:") || has("system:") || has("shell:") {
                    let elsewhere = args.iter().any(|it| {
                        let lower = it.marked.to_ascii_lowercase();
                        [
                            "tcp", "udp", "openssl", "ssl", "sctp", "proxy", "socks", "vsock",
                            "ip4", "ip6",
                        ]
                        .iter()
                        .any(|prefix| lower.starts_with(prefix))
                    });
                    let (_, command) = arg.marked.split_once(':').unwrap_or_default();
                    let command =
                        command.split(',').next().unwrap_or_default().trim_matches(['"', '\'']);
                    if elsewhere {
                        self.reverse_shell();
                    }
                    let mut inner = env.clone();
                    let command = command.to_owned();
                    self.payload(&command, &mut inner, Flow::unknown());
                }
                let kind = lower.split(':').next().unwrap_or_default().to_owned();
                if matches!(kind.as_str(), "file" | "open" | "create" | "gopen") {
                    let (_, file) = arg.marked.split_once(':').unwrap_or_default();
                    let file = Arg::new(file.split(',').next().unwrap_or_default());
                    if self.file(&file, env).taint.has(Taint::SECRET) {
                        self.exfiltration();
                    }
                    self.judge_write(&file, env);
                }
            }
            return;
        }
        let options = Options::parse(
            args,
            Spec::new(
                "ecgGiIMmopPqsTVwxXW",
                &["exec", "sh-exec", "lua-exec", "proxy", "source", "ssl-cert"],
            ),
        );
        let runs = options
            .value("e", "exec")
            .or_else(|| options.value("", "sh-exec"))
            .or_else(|| options.value("c", "sh-exec"))
            .or_else(|| options.value("", "lua-exec"));
        // OpenBSD's `-c` asks for TLS and takes no value: then what follows is a host.
        if let Some(runs) = runs {
            let text = runs.text();
            let first = text
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned();
            let is_program = options.value("e", "exec").is_some()
                || options.value("", "sh-exec").is_some()
                || crate::shell::is_shell(&first)
                || text.contains(['/', ' ']);
            if is_program {
                self.reverse_shell();
                let mut inner = env.clone();
                self.payload(&text, &mut inner, Flow::unknown());
            }
        }
    }
}
