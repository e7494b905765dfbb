//! Output that is mostly dropped, as bytes per second.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::BytesCount;
use hermes_terminal::Collector;

fn main() {
    divan::main();
}

/// What a pipe gives at once.
const PIECE: usize = 64 * 1024;
const PIECES: usize = 64;

#[divan::bench(args = ["y\n", "a line of plain text of a usual length, as compilers write it\n", "Zeile mit Umlauten: äöü und 日本語\n", "\x1b[32mok\x1b[0m a line with colours\n", "10 %\r20 %\r30 %\n"])]
fn collect(bencher: Bencher<'_, '_>, line: &str) {
    let piece = line.repeat(PIECE / line.len());
    bencher.counter(BytesCount::new(piece.len() * PIECES)).bench(|| {
        let mut collector = Collector::new(50_000);
        for _ in 0..PIECES {
            collector.push(black_box(piece.as_bytes()));
        }
        collector.finish("", &|text| text.into())
    });
}
