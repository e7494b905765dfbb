//! What is run.

use hermes_exec::environment::Size;

/// One command.
pub(crate) struct Command {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) is_background: bool,
    pub(crate) stdin: Option<Vec<u8>>,
    pub(crate) terminal: Option<Size>,
    pub(crate) end: End,
    pub(crate) expect: Expect,
}

/// How a command is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Itself,
    Timeout,
    Stop,
    Drop,
}

/// What it should say in the end.
pub(crate) enum Expect {
    Code(i32),
    Says(&'static str),
    Bytes(usize),
}

/// Those that end by themselves. What they leave behind ends soon.
const SHORT: [(&str, &str, Expect); 11] = [
    ("says something", "echo done", Expect::Says("done")),
    ("fails", "cd /tmp; exit 7", Expect::Code(7)),
    ("is killed by itself", "kill -9 $$", Expect::Code(137)),
    ("becomes another", "exec sh -c 'exit 5'", Expect::Code(5)),
    ("sets a variable", "export SOAK_VARIABLE=$RANDOM; echo done", Expect::Says("done")),
    ("says very much", "yes 0123456789 | head -c 3000000", Expect::Bytes(3_000_000)),
    ("leaves a child", "sleep 1 & echo done", Expect::Says("done")),
    ("leaves a session", "setsid sleep 1 & echo done", Expect::Says("done")),
    ("leaves one that talks", "(sleep 0.1; echo late; sleep 0.5) & exit 3", Expect::Code(3)),
    (
        "leaves an orphan",
        "(setsid sh -c 'sleep 1' >/dev/null 2>&1 &); echo done",
        Expect::Says("done"),
    ),
    ("is many", "for n in 1 2 3 4 5; do /bin/true & done; wait; echo done", Expect::Says("done")),
];

/// Those that never end.
const LONG: [(&str, &str); 10] = [
    ("sleeps", "sleep 300"),
    ("has children", "sleep 301 & sleep 302 & sleep 303"),
    ("has sessions", "setsid sleep 304 & setsid setsid sleep 305 & sleep 306"),
    ("has orphans", "(setsid sh -c 'sleep 307 & sleep 308' &); sleep 309"),
    ("ignores signals", "trap '' TERM INT HUP; sleep 310 & while :; do sleep 1; done"),
    ("has children that ignore", "(trap '' TERM; while :; do sleep 1; done) & sleep 311"),
    ("talks for ever", "yes"),
    ("became another", "exec sleep 312"),
    ("is stopped", "sleep 313 & kill -STOP $!; kill -STOP $$; sleep 314"),
    ("forks for ever", "while :; do (sleep 0.01) & sleep 0.02; done"),
];

pub(crate) fn pick(rng: &mut Rng, terminals: bool) -> Command {
    let is_background = rng.below(3) == 0;
    let mut command = if rng.below(2) == 0 {
        let (kind, text, expect) = &SHORT[rng.below(SHORT.len() as u64) as usize];
        let expect = match expect {
            Expect::Code(code) => Expect::Code(*code),
            Expect::Says(text) => Expect::Says(text),
            Expect::Bytes(count) => Expect::Bytes(*count),
        };
        let text = (*text).to_owned();
        Command { kind, text, is_background, stdin: None, terminal: None, end: End::Itself, expect }
    } else {
        let (kind, text) = LONG[rng.below(LONG.len() as u64) as usize];
        let end = [End::Timeout, End::Stop, End::Drop][rng.below(3) as usize];
        let text = text.to_owned();
        let expect = Expect::Code(0);
        Command { kind, text, is_background, stdin: None, terminal: None, end, expect }
    };
    match rng.below(20) {
        0 => {
            command.kind = "reads much";
            command.text = "wc -c".to_owned();
            command.stdin = Some(vec![b'x'; 300_000]);
            (command.end, command.expect) = (End::Itself, Expect::Says("300000"));
        }
        // One with job control of its own, as people's shells.
        1 if is_background && terminals && command.end != End::Itself => {
            command.terminal = Some(Size::default());
        }
        _ => {}
    }
    command
}

/// Numbers that look random, the same for the same seed.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}
