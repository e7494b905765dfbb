//! Any bytes as output, and any text as a command.

#![no_main]

use hermes_terminal::{
    Collector, Cursor, Ring, exit_note, foreground_check, is_env_dump, prepare_command, strip_ansi,
    sudo_count,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (size, limit, bytes) = input;
    let (size, limit) = (usize::from(size) + 1, usize::from(limit) + 1);

    let collected = |size: usize| {
        let mut collector = Collector::new(limit);
        for piece in bytes.chunks(size) {
            collector.push(piece);
        }
        collector.finish("\n[end]", &|text| text.into())
    };
    let output = collected(size);
    assert!(output.text.chars().count() <= limit);
    assert!(!output.text.contains(['\u{1B}', '\r', '\u{9B}']));
    assert_eq!(output, collected(usize::MAX));

    let mut ring = Ring::new(limit);
    let mut cursor = Cursor::default();
    for piece in bytes.chunks(size) {
        ring.push(piece);
        let _ = ring.read_new(&mut cursor);
    }
    ring.finish();
    assert!(ring.text().chars().count() <= limit);

    let command = String::from_utf8_lossy(bytes);
    assert!(!strip_ansi(&command).contains('\u{1B}'));
    let prepared = prepare_command(&command);
    assert_eq!(prepare_command(&prepared), prepared);
    assert_eq!(sudo_count(&prepared), sudo_count(&command));
    let _ = foreground_check(&command);
    let _ = is_env_dump(&command);
    let _ = exit_note(&command, 1);
});
