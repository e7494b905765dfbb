//! Any text as the arguments of a call: repaired, decided about, and written to history.

#![no_main]

use hermes_turn::argument_text::{
    ArgsDecision, Repair, decide, history_arguments, repair_json_args,
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: (u16, &str)| {
    let (cut, text) = input;
    let repaired = repair_json_args(text);

    let strict: Option<Value> = serde_json::from_str(text.trim()).ok();
    if let Some(strict) = &strict {
        let (value, report) = repaired.clone().expect("valid JSON can be read");
        if strict.is_null() {
            assert_eq!(value, serde_json::json!({}));
        } else if report.contains(Repair::DoubleEncoded) {
            assert!(strict.is_string() && value.is_object());
        } else {
            assert_eq!(&value, strict, "valid JSON stays as it is");
            assert!(report.is_clean());
        }
    }

    match decide(text) {
        ArgsDecision::Execute { args, repairs } => {
            assert!(!repairs.is_cut(), "what was cut is not run");
            assert_eq!(repaired, Some((Value::Object(args), repairs)));
        }
        ArgsDecision::InvalidJson { fault } => {
            assert!(repaired.is_none());
            let line = text.split('\n').nth(fault.line - 1).expect("the line exists");
            assert!(fault.column <= line.chars().count() + 1, "the column exists");
        }
        ArgsDecision::RefuseTruncated { chars, .. } => {
            assert!(repaired.as_ref().is_none_or(|(_, report)| report.is_cut()));
            assert_eq!(chars, text.chars().count());
        }
        ArgsDecision::RejectNotObject { .. } => {
            assert!(repaired.as_ref().is_some_and(|(value, _)| !value.is_object()));
        }
    }

    let (history, lost) = history_arguments(text);
    assert_eq!(lost, repair_json_args(text).is_none());
    assert!(serde_json::from_str::<Value>(&history).is_ok(), "history is JSON");

    // The beginning of an object is never run, wherever it was cut.
    let whole = text.trim();
    if strict.is_some_and(|strict| strict.is_object()) {
        let at = 1 + usize::from(cut) % (whole.len() - 1);
        if let Some(start) = whole.get(..at) {
            let refused = matches!(decide(start), ArgsDecision::RefuseTruncated { .. });
            assert!(refused, "{start:?} would be run or asked for again");
        }
    }
});
