//! How often sound files are said to be broken: checks the files whose paths are on stdin, as new
//! ones, and prints what is wrong with them and how many there are of each kind.
//!
//! ```sh
//! find /usr/lib/python3 -name '*.py' | cargo run --release -p hermes-lint --example corpus
//! ```
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use hermes_lint::{Kind, Lint};

#[derive(Default)]
struct Tally {
    files: u32,
    bytes: usize,
    time: Duration,
    slowest: Duration,
    broken: u32,
    skipped: u32,
}

fn main() -> io::Result<()> {
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for path in io::stdin().lines() {
        let path = path?;
        let Some(kind) = Kind::of(Path::new(&path)) else { continue };
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let tally = tallies.entry(kind.name()).or_default();
        let start = Instant::now();
        let lint = kind.check(None, &text);
        let time = start.elapsed();
        tally.files += 1;
        tally.bytes += text.len();
        tally.time += time;
        tally.slowest = tally.slowest.max(time);
        match lint {
            Lint::Ok => {}
            Lint::Broken { output, .. } => {
                tally.broken += 1;
                let first = output.lines().next().unwrap_or_default();
                println!("{path}:{first}");
            }
            Lint::Skipped { message } => {
                tally.skipped += 1;
                println!("{path}: {message}");
            }
        }
    }
    for (name, Tally { files, bytes, time, slowest, broken, skipped }) in tallies {
        println!(
            "{name}: {files} files, {bytes} bytes in {time:.1?}, the slowest took {slowest:.1?}; \
             {broken} broken, {skipped} not certain"
        );
    }
    Ok(())
}
