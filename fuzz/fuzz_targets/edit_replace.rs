//! Any passage, replaced in any text.

#![no_main]

use hermes_edit::{Refusal, Strategy, closest_lines, replace};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &str, bool)| {
    let (content, old, new, all) = input;
    let lf = |text: &str| text.replace("\r\n", "\n");
    let hits = lf(content).matches(&lf(old)).count();
    match replace(content, old, new, all) {
        Ok(replaced) => {
            assert!(!old.is_empty() && lf(old) != lf(new));
            assert_eq!(replaced.spans.len(), replaced.count);
            assert!(replaced.count == 1 || (all && replaced.count > 1));
            assert_eq!(replaced.strategy == Strategy::Exact, hits > 0);

            // What lies outside the spans is there still, in order.
            let (mut rest, mut done) = (replaced.content.as_str(), 0);
            for span in &replaced.spans {
                assert!(span.start >= done && span.start < span.end, "{span:?}");
                let kept = &content[done..span.start];
                let at =
                    if done == 0 { rest.starts_with(kept).then_some(0) } else { rest.find(kept) };
                rest = &rest[at.expect("nothing outside the spans changes") + kept.len()..];
                done = span.end;
            }
            assert!(rest.ends_with(&content[done..]));

            if !content.contains('\r') && !old.contains('\r') && !new.contains('\r') && hits > 0 {
                assert_eq!(replaced.count, hits);
                assert_eq!(replaced.content, content.replace(old, new));
            }
        }
        Err(Refusal::EmptyOld) => assert!(old.is_empty()),
        Err(Refusal::Identical) => assert_eq!(lf(old), lf(new)),
        Err(Refusal::Ambiguous { lines }) => {
            assert!(!all && lines.len() > 1);
            assert!(lines.is_sorted() && lines.iter().all(|&line| line >= 1));
            assert!(hits == 0 || hits == lines.len());
        }
        Err(Refusal::NotFound) => {
            assert_eq!(hits, 0);
            closest_lines(old, content);
        }
        Err(Refusal::EscapeDrift { line }) => assert!(line >= 1 && hits == 0),
    }
});
