//! Any text to be masked, with a secret put into it.

#![no_main]

use hermes_guard::redact::{Mode, flushable, redact};
use libfuzzer_sys::fuzz_target;

/// Looks like no other text.
const SECRET: &str = "Zq9Xw8Vu7Ts6Rp5Nm4Lk3Jh2Gf1Dc0Ba";

fuzz_target!(|input: (&str, &str, u8)| {
    let (before, after, form) = input;
    for mode in [Mode::Log, Mode::Code, Mode::FileRead, Mode::Egress] {
        let text = format!("{before}{after}");
        let once = redact(&text, mode).into_owned();
        assert!(once.len() <= text.len() * 4 + 64, "the output is bounded");
        assert!(flushable(&text) <= text.len());
        // Between lines nothing before and after decides.
        let secret = match form % 4 {
            0 => format!("ghp_{SECRET}"),
            1 => format!("Authorization: Bearer {SECRET}"),
            2 => format!("redis://:{SECRET}@host/0"),
            _ => format!("x-api-key: {SECRET}"),
        };
        let shown = redact(&format!("{before}\n{secret}\n{after}"), mode).into_owned();
        let middle = &SECRET[8..24];
        let had = before.contains(middle) || after.contains(middle);
        assert!(had || !shown.contains(middle), "{shown:?}");
    }
});
