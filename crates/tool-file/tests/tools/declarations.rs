//! What the host is told of the tools.

use hermes_registry::{Concurrency, Exposure, linked_specs};
use pretty_assertions::assert_eq;
use serde_json::json;

#[test]
fn the_declarations_are_those_of_the_toolset() {
    let specs = linked_specs();
    let names: Vec<_> = specs.iter().map(|spec| (spec.name, spec.meta.emoji)).collect();
    assert_eq!(
        names,
        [("patch", "🔧"), ("read_file", "📖"), ("search_files", "🔎"), ("write_file", "✍️")]
    );
    for spec in specs {
        assert_eq!((spec.toolset, spec.meta.exposure), ("file", Exposure::Core));
        let reads = matches!(spec.name, "read_file" | "search_files");
        assert_eq!(spec.meta.concurrency.is_read_only(), reads);
    }
    let search = hermes_tool_file::tools().iter().find(|spec| spec.name == "search_files").unwrap();
    assert_eq!(search.meta.concurrency, Concurrency::reads_or("path", "."));
}

#[test]
fn schemas_state_the_limits() {
    let schema = |tool: &str| {
        let spec = hermes_tool_file::tools().iter().find(|spec| spec.name == tool).unwrap();
        let mut schema = (spec.schema)();
        for property in schema["properties"].as_object_mut().unwrap().values_mut() {
            let text = property.as_object_mut().unwrap().remove("description").unwrap();
            assert!(text.as_str().unwrap().len() > 10);
        }
        schema
    };
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean", "default": false});
    assert_eq!(
        schema("read_file"),
        json!({"type": "object", "properties": {
            "path": text,
            "offset": {"type": "integer", "default": 1, "minimum": 1},
            "limit": {"type": "integer", "default": 500, "maximum": 2000},
        }, "required": ["path"]})
    );
    assert_eq!(
        schema("write_file"),
        json!({"type": "object", "properties": {
            "path": text, "content": text, "cross_profile": flag,
        }, "required": ["path", "content"]})
    );
    assert_eq!(
        schema("patch"),
        json!({"type": "object", "properties": {
            "mode": {"type": "string", "enum": ["replace", "patch"], "default": "replace"},
            "path": text, "old_string": text, "new_string": text, "replace_all": flag,
            "patch": text, "cross_profile": flag,
        }, "required": ["mode"]})
    );
    assert_eq!(
        schema("search_files"),
        json!({"type": "object", "properties": {
            "pattern": text,
            "target": {"type": "string", "enum": ["content", "files"], "default": "content"},
            "path": {"type": "string", "default": "."},
            "file_glob": text,
            "limit": {"type": "integer", "default": 50},
            "offset": {"type": "integer", "default": 0},
            "output_mode": {
                "type": "string", "enum": ["content", "files_only", "count"], "default": "content",
            },
            "context": {"type": "integer", "default": 0},
        }, "required": ["pattern"]})
    );
}
