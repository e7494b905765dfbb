//! Many threads change one registry while others read it.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use hermes_registry::{Owner, Registry, Removed, Snapshot};
use hermes_tests::fixture::idle_tool;

const WRITERS: usize = 8;
const READERS: usize = 8;
/// Of all writers together.
const ROUNDS: usize = 10_000;
/// A name that all writers want; at any time one of them may have it.
const CONTESTED: &str = "contested";

/// Registers and removes a toolset again and again; gives the number of changes made.
fn write(registry: &Registry, server: &str) -> u64 {
    let registrar = registry.registrar(Owner::mcp(server));
    let toolset = format!("mcp-{server}");
    let names = ["a", "b"].map(|tool| format!("mcp__{server}__{tool}"));
    let mut changes = 0;
    for _ in 0..ROUNDS / WRITERS {
        for name in &names {
            assert!(registrar.register(idle_tool(name, &toolset)).is_ok());
        }
        registrar.alias(server, &toolset);
        changes += 3;
        if registrar.register(idle_tool(CONTESTED, &toolset)).is_ok() {
            assert_eq!(registrar.deregister(CONTESTED), Ok(Removed::Removed));
            changes += 2;
        }
        for name in &names {
            assert_eq!(registrar.deregister(name), Ok(Removed::Removed));
        }
        changes += 2;
    }
    changes
}

/// Fails if a snapshot shows what no order of whole changes can lead to.
fn check(snapshot: &Snapshot) {
    let names: Vec<&str> = snapshot.tools().map(|tool| tool.name()).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for tool in snapshot.tools() {
        let server = tool.toolset().trim_start_matches("mcp-");
        assert_eq!(*tool.owner(), Owner::mcp(server), "{tool:?}");
        let own = tool.name().starts_with(&format!("mcp__{server}__"));
        assert!(own || tool.name() == CONTESTED, "{tool:?}");
    }
    let toolsets = snapshot.toolsets();
    for (alias, toolset) in snapshot.aliases() {
        assert!(toolsets.contains(toolset), "{alias} points at {toolset}, which has no tool");
    }
}

#[test]
fn readers_never_see_half_a_change() {
    let registry = Registry::new();
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    let start = Barrier::new(WRITERS + READERS);
    let changes: u64 = std::thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                start.wait();
                let mut last = 0;
                while !done.load(Ordering::SeqCst) {
                    let snapshot = registry.snapshot();
                    assert!(snapshot.generation() >= last, "the generation went back");
                    last = snapshot.generation();
                    check(&snapshot);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                let (registry, start) = (&registry, &start);
                scope.spawn(move || {
                    start.wait();
                    write(registry, &format!("s{n}"))
                })
            })
            .collect();
        // Readers must be let go even if a writer failed.
        let results: Vec<_> = writers.into_iter().map(ScopedJoinHandle::join).collect();
        done.store(true, Ordering::SeqCst);
        results.into_iter().map(Result::unwrap).sum()
    });
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.generation(), changes, "every change counts once");
    assert_eq!((snapshot.tools().count(), snapshot.aliases().count()), (0, 0));
    assert!(reads.into_inner() > 0);
}
