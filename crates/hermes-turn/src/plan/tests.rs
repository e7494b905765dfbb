//! Tests of slots and plans.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn reads(path: &str) -> Slot {
    Slot::Paths(vec![(Access::Read, path.into())])
}

fn writes(path: &str) -> Slot {
    Slot::Paths(vec![(Access::Write, path.into())])
}

/// A plan in short: `[0 1]` is parallel, `(2)` sequential.
fn short(slots: &[Slot]) -> String {
    plan(slots)
        .iter()
        .map(|segment| {
            let calls: Vec<String> = segment.calls.iter().map(ToString::to_string).collect();
            match segment.kind {
                SegmentKind::Parallel => format!("[{}]", calls.join(" ")),
                SegmentKind::Sequential => format!("({})", calls.join(" ")),
            }
        })
        .collect()
}

#[test]
fn runs_end_at_barriers_and_conflicts() {
    use Slot::{Barrier, Read};
    for (slots, expected) in [
        (vec![], ""),
        (vec![Read], "(0)"),
        (vec![Read, Read, Read], "[0 1 2]"),
        (vec![Read, Barrier, Read], "(0 1 2)"),
        (vec![Read, Read, Barrier, Barrier, Read, Read], "[0 1](2 3)[4 5]"),
        (vec![Read, Read, Barrier, Read], "[0 1](2 3)"),
        (vec![writes("/a"), reads("/a")], "(0 1)"),
        (vec![reads("/a"), reads("/a"), writes("/a"), reads("/a")], "[0 1](2 3)"),
        (vec![writes("/a"), writes("/b"), reads("/a"), reads("/c")], "[0 1][2 3]"),
        (vec![writes("/a"), writes("/a/b/c")], "(0 1)"),
        (vec![writes("/a/b/c"), reads("/a")], "(0 1)"),
        (vec![reads("/"), writes("/a")], "(0 1)"),
        (vec![reads("/a"), writes("/a2"), writes("/b/a")], "[0 1 2]"),
        // After a barrier nothing of before is claimed any more.
        (vec![writes("/a"), Barrier, writes("/a"), Read], "(0 1)[2 3]"),
        // A run of reads keeps the claims of its paths.
        (vec![writes("/a"), Read, writes("/a"), Read, writes("/b")], "[0 1][2 3 4]"),
    ] {
        assert_eq!(short(&slots), expected, "{slots:?}");
    }
}

#[test]
fn several_paths_of_one_call_are_claimed_together() {
    let patch = Slot::Paths(vec![(Access::Write, "/a".into()), (Access::Write, "/a/b".into())]);
    assert_eq!(short(&[patch.clone(), reads("/c"), reads("/a/b/c")]), "[0 1](2)");
    assert_eq!(short(&[reads("/a/b"), patch]), "(0 1)");
    assert_eq!(short(&[Slot::Paths(vec![]), Slot::Read]), "[0 1]");
}

#[test]
fn a_slot_follows_the_declaration_and_the_arguments() {
    let canonical = |path: &str| (path != "bad").then(|| Path::new("/w").join(path));
    let of = |concurrency, args: Value| slot(concurrency, Some(&args), &canonical);
    let (read, write) = (Concurrency::reads("path"), Concurrency::writes("path"));
    assert_eq!(of(read, json!({"path": "a"})), reads("/w/a"));
    assert_eq!(of(write, json!({"path": "a"})), writes("/w/a"));
    let either = vec![(Access::Write, "/w/a ".into()), (Access::Write, "/w/a".into())];
    assert_eq!(of(write, json!({"path": "a "})), Slot::Paths(either));
    for args in [json!({}), json!({"path": " "}), json!({"path": null}), json!({"path": 3})] {
        assert_eq!(of(write, args), Slot::Barrier);
    }
    let search = Concurrency::reads_or("path", ".");
    for args in [json!({}), json!({"path": " "}), json!({"path": null})] {
        assert_eq!(of(search, args), reads("/w/."));
    }
    assert_eq!(of(search, json!({"path": ["a"]})), Slot::Barrier);
    assert_eq!(of(search, json!({"path": "bad"})), Slot::Barrier);
    assert_eq!(of(Concurrency::ReadOnly, json!({})), Slot::Read);
    assert_eq!(of(Concurrency::Interactive, json!({})), Slot::Barrier);
    assert_eq!(of(Concurrency::Exclusive, json!({})), Slot::Barrier);
    for concurrency in [Concurrency::ReadOnly, search] {
        assert_eq!(of(concurrency, json!([1])), Slot::Barrier);
        assert_eq!(slot(concurrency, None, &canonical), Slot::Barrier);
    }
}

fn any_slot() -> impl Strategy<Value = Slot> {
    let path = prop::collection::vec(prop::sample::select(vec!["a", "b", "ab"]), 0..4)
        .prop_map(|parts| PathBuf::from(format!("/{}", parts.join("/"))));
    let access = prop::sample::select(vec![Access::Read, Access::Write]);
    prop_oneof![
        1 => Just(Slot::Barrier),
        2 => Just(Slot::Read),
        8 => prop::collection::vec((access, path), 1..3).prop_map(Slot::Paths),
    ]
}

/// Said once more, and simply.
fn conflict(a: &Slot, b: &Slot) -> bool {
    match (a, b) {
        (Slot::Barrier, _) | (_, Slot::Barrier) => true,
        (Slot::Paths(a), Slot::Paths(b)) => a.iter().any(|(first, a)| {
            b.iter().any(|(second, b)| {
                let write = *first == Access::Write || *second == Access::Write;
                write && (a.starts_with(b) || b.starts_with(a))
            })
        }),
        _ => false,
    }
}

proptest! {
    #[test]
    fn a_plan_is_complete_ordered_and_safe(slots in prop::collection::vec(any_slot(), 0..40)) {
        let segments = plan(&slots);
        let order: Vec<usize> = segments.iter().flat_map(|it| it.calls.clone()).collect();
        prop_assert_eq!(order, (0..slots.len()).collect::<Vec<_>>());
        for segment in &segments {
            if segment.kind == SegmentKind::Parallel {
                prop_assert!(segment.calls.len() > 1);
                for (i, a) in segment.calls.iter().enumerate() {
                    for b in &segment.calls[i + 1..] {
                        prop_assert!(!conflict(&slots[*a], &slots[*b]), "{} {}", a, b);
                    }
                }
            }
        }
        // No segment could have been joined with the one before it.
        for pair in segments.windows(2) {
            let both_sequential = pair.iter().all(|it| it.kind == SegmentKind::Sequential);
            prop_assert!(!both_sequential);
            let first = &slots[pair[1].calls[0]];
            let ended = pair[0].kind == SegmentKind::Sequential
                || pair[0].calls.iter().any(|call| conflict(&slots[*call], first));
            prop_assert!(ended);
        }
    }
}
