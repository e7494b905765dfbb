//! Changes to `config.yaml`, as values to set.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::config;

/// A value to set in `config.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEdit {
    /// The keys that lead to it. They may hold dots.
    pub path: Vec<String>,
    /// The value to put there.
    pub value: Value,
}

impl ConfigEdit {
    /// Sets the value in a parsed configuration, making the mappings that lead to it where they are
    /// missing, null or something else.
    pub fn apply(&self, config: &mut Value) {
        let mut place = config;
        for key in &self.path {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            let Value::Object(map) = place else { return };
            place = map.entry(key.as_str()).or_insert(Value::Null);
        }
        place.clone_from(&self.value);
    }
}

/// A configuration being changed.
pub(super) struct Draft {
    pub(super) config: Value,
    values: IndexMap<Vec<String>, Value>,
}

impl Draft {
    pub(super) fn new(config: &Value) -> Self {
        Self { config: config.clone(), values: IndexMap::new() }
    }

    pub(super) fn set_names<'n>(
        &mut self,
        path: &[&str],
        names: impl IntoIterator<Item = &'n str>,
    ) {
        self.set(path, names.into_iter().map(Value::from).collect());
    }

    fn set(&mut self, path: &[&str], value: Value) {
        let path: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
        let edit = ConfigEdit { path, value };
        edit.apply(&mut self.config);
        self.values.insert(edit.path, edit.value);
    }

    pub(super) fn edits(self, original: &Value) -> Vec<ConfigEdit> {
        let differs = |path: &[String], value: &Value| {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            config::at(original, &path) != Some(value)
        };
        let values = self.values.into_iter().filter(|(path, value)| differs(path, value));
        values.map(|(path, value)| ConfigEdit { path, value }).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mappings_are_made_on_the_way_and_equal_values_are_no_edits() {
        let original = json!({"a": null, "s": "text", "k": {"list": ["x"]}});
        let mut draft = Draft::new(&original);
        draft.set_names(&["a", "b.c", "d"], ["x"]);
        draft.set_names(&["s", "t"], []);
        draft.set_names(&["k", "list"], ["y"]);
        draft.set_names(&["k", "list"], ["x"]);
        assert_eq!(draft.config["a"], json!({"b.c": {"d": ["x"]}}));
        assert_eq!(draft.config["s"], json!({"t": []}));
        let edits = draft.edits(&original);
        let paths: Vec<_> = edits.iter().map(|edit| edit.path.join("/")).collect();
        assert_eq!(paths, ["a/b.c/d", "s/t"]);
    }
}
