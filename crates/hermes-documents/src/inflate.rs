//! Inflating, with an end to it.

use flate2::{Decompress, FlushDecompress, Status};

/// How much larger than its compressed form something may be.
const MAX_RATIO: usize = 200;
/// Up to this size the ratio doesn't matter: short texts that repeat themselves are ordinary.
const FREE: usize = 1024 * 1024;
/// How much room is made at a time.
const STEP: usize = 32 * 1024;

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Inflated {
    /// All of it.
    Whole(Vec<u8>),
    /// What there was before the data broke off or turned out to be damaged.
    Damaged(Vec<u8>),
    /// The budget or the ratio was exceeded.
    TooLarge,
}

/// Inflates `data`, with a zlib header or without, and takes the size off the budget.
pub(crate) fn inflate(data: &[u8], zlib_header: bool, budget: &mut usize) -> Inflated {
    let mut state = Decompress::new(zlib_header);
    let mut out = Vec::new();
    loop {
        if out.len() > *budget || (out.len() > FREE && out.len() / MAX_RATIO > data.len()) {
            return Inflated::TooLarge;
        }
        if out.capacity() - out.len() < STEP {
            out.reserve(STEP.max(out.len() / 2));
        }
        let (read, written) = (state.total_in(), out.len());
        let position = usize::try_from(read).unwrap_or(usize::MAX);
        let rest = data.get(position..).unwrap_or_default();
        let result = state.decompress_vec(rest, &mut out, FlushDecompress::None);
        match result {
            Ok(Status::StreamEnd) => break,
            Ok(_) if state.total_in() > read || out.len() > written => {}
            Ok(_) | Err(_) => {
                *budget = budget.saturating_sub(out.len());
                return Inflated::Damaged(out);
            }
        }
    }
    if out.len() > *budget {
        return Inflated::TooLarge;
    }
    *budget -= out.len();
    Inflated::Whole(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use std::io::Write;

    fn deflated(data: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn budgets_and_ratios_end_it() {
        let mut budget = 100_000_000;
        let zeros = vec![0; 1_000_000];
        assert_eq!(inflate(&deflated(&zeros), false, &mut budget), Inflated::Whole(zeros));
        assert_eq!(budget, 99_000_000);
        let bomb = deflated(&vec![0; 3_000_000]);
        assert_eq!(inflate(&bomb, false, &mut budget), Inflated::TooLarge);
        let text: Vec<u8> = (0..20_000).flat_map(|n: u32| n.to_string().into_bytes()).collect();
        let data = deflated(&text);
        assert_eq!(inflate(&data, false, &mut 80_000), Inflated::TooLarge);
        assert_eq!(inflate(&data, false, &mut budget), Inflated::Whole(text.clone()));
        let Inflated::Damaged(part) = inflate(&data[..data.len() / 2], false, &mut budget) else {
            panic!("half of it can't be whole");
        };
        assert!(!part.is_empty() && text.starts_with(&part));
        assert_eq!(inflate(b"", false, &mut budget), Inflated::Damaged(Vec::new()));
    }
}
