//! Any name, looked up among any tools.

#![no_main]

use std::collections::BTreeSet;

use hermes_search::name_repair::{NameRepair, repair_tool_name};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, BTreeSet<&str>, bool)| {
    let (name, tools, read_only) = input;
    let tools: Vec<&str> = tools.into_iter().collect();
    let found = repair_tool_name(name, &tools, |_| read_only);

    let is_tool = |name: &str| tools.contains(&name);
    assert_eq!(found == NameRepair::Exact, is_tool(name), "a tool's own name is exact");
    match &found {
        NameRepair::Exact => {}
        NameRepair::Repaired(tool) => assert!(is_tool(tool), "{tool:?} is no tool"),
        NameRepair::NoRepair { suggestions } => {
            assert!(suggestions.len() <= 3);
            assert!(suggestions.iter().all(|tool| is_tool(tool)), "{suggestions:?}");
        }
        NameRepair::Blank => {}
    }

    if name.trim().is_empty() && !is_tool(name) {
        assert_eq!(found, NameRepair::Blank);
    }

    // The order in which tools were registered decides nothing.
    let reversed: Vec<&str> = tools.iter().rev().copied().collect();
    assert_eq!(repair_tool_name(name, &reversed, |_| read_only), found);

    // What writes is reached by fewer names than what reads.
    if let NameRepair::Repaired(tool) = repair_tool_name(name, &tools, |_| false)
        && !read_only
    {
        let reading = repair_tool_name(name, &tools, |_| true);
        if let NameRepair::Repaired(other) = reading {
            assert_eq!(other, tool);
        }
    }
});
