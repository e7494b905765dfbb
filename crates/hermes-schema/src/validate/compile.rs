//! From a plain schema to a [`Program`].

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::{
    node::{Members, Node, NodeId, Program, Rule, Types},
    pattern::Pattern,
};
use crate::{SchemaError, refs};

/// Compiles a schema that went through [`plain`](super::plain::plain).
///
/// A queue in place of recursion: neither nesting nor chains of references grow the stack.
pub(super) fn compile(schema: &Value) -> Result<Program, SchemaError> {
    let mut compiler =
        Compiler { root: schema, nodes: Vec::new(), known: HashMap::new(), open: Vec::new() };
    compiler.slot(schema, String::new());
    while let Some((id, schema, pointer)) = compiler.open.pop() {
        let node = compiler.node(schema, &pointer)?;
        if let Some(slot) = compiler.nodes.get_mut(id) {
            *slot = node;
        }
    }
    let program = Program { nodes: compiler.nodes };
    refuse_bottomless(&program)?;
    Ok(program)
}

struct Compiler<'s> {
    root: &'s Value,
    nodes: Vec<Node>,
    /// Slots by the address of the schema they are for.
    known: HashMap<*const Value, NodeId>,
    open: Vec<(NodeId, &'s Value, String)>,
}

/// One schema object and where it is.
#[derive(Clone, Copy)]
struct Place<'s, 'p> {
    keywords: &'s Map<String, Value>,
    pointer: &'p str,
}

impl<'s> Compiler<'s> {
    /// The node for `schema`, which is compiled later.
    fn slot(&mut self, schema: &'s Value, pointer: String) -> NodeId {
        let next = self.nodes.len();
        let id = *self.known.entry(std::ptr::from_ref(schema)).or_insert(next);
        if id == next {
            self.nodes.push(Node { types: Types::ANY, rules: Vec::new() });
            self.open.push((id, schema, pointer));
        }
        id
    }

    fn node(&mut self, schema: &'s Value, pointer: &str) -> Result<Node, SchemaError> {
        let keywords = match schema {
            Value::Bool(true) => return Ok(Node { types: Types::ANY, rules: Vec::new() }),
            Value::Bool(false) => return Ok(Node { types: Types::NONE, rules: Vec::new() }),
            Value::Object(keywords) => keywords,
            _ => return Err(invalid(pointer, "must be a schema")),
        };
        let place = Place { keywords, pointer };
        let mut rules = Vec::new();
        self.references(place, &mut rules)?;
        values(place, &mut rules)?;
        numbers(place, &mut rules)?;
        strings(place, &mut rules)?;
        self.array(place, &mut rules)?;
        self.object(place, &mut rules)?;
        self.in_place(place, &mut rules)?;
        // These look at what all the others have left.
        if let Some(node) = self.one(place, "unevaluatedItems") {
            rules.push(Rule::UnevaluatedItems(node));
        }
        if let Some(node) = self.one(place, "unevaluatedProperties") {
            rules.push(Rule::UnevaluatedProperties(node));
        }
        Ok(Node { types: types(place)?, rules })
    }

    fn references(
        &mut self,
        place: Place<'s, '_>,
        rules: &mut Vec<Rule>,
    ) -> Result<(), SchemaError> {
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(value) = place.keywords.get(keyword) else { continue };
            let Some(reference) = value.as_str() else {
                return Err(place.invalid(keyword, "must be text"));
            };
            let Some(target) = refs::target(self.root, reference) else {
                let reference = reference.chars().take(200).collect();
                return Err(SchemaError::UnresolvedRef { reference });
            };
            rules.push(Rule::Ref(self.slot(target, reference.trim_start_matches('#').to_owned())));
        }
        Ok(())
    }

    fn array(&mut self, place: Place<'s, '_>, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
        let prefix = self.list(place, "prefixItems")?.unwrap_or_default();
        let rest = self.one(place, "items");
        if !prefix.is_empty() || rest.is_some() {
            rules.push(Rule::Items { prefix, rest });
        }
        if let Some(node) = self.one(place, "contains") {
            let min = limit(place, "minContains")?.unwrap_or(1);
            rules.push(Rule::Contains { node, min, max: limit(place, "maxContains")? });
        }
        rules.extend(limit(place, "minItems")?.map(Rule::MinItems));
        rules.extend(limit(place, "maxItems")?.map(Rule::MaxItems));
        match place.keywords.get("uniqueItems") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => rules.push(Rule::UniqueItems),
            Some(_) => return Err(place.invalid("uniqueItems", "must be a boolean")),
        }
        Ok(())
    }

    fn object(&mut self, place: Place<'s, '_>, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
        let mut members = Members {
            named: self.map(place, "properties")?.into_iter().collect(),
            patterns: Vec::new(),
            rest: self.one(place, "additionalProperties"),
        };
        for (pattern, node) in self.map(place, "patternProperties")? {
            match Pattern::new(&pattern) {
                Some(pattern) => members.patterns.push((pattern, node)),
                // Whatever else there is may be what the expression is about.
                None => members.rest = None,
            }
        }
        if !members.named.is_empty() || !members.patterns.is_empty() || members.rest.is_some() {
            rules.push(Rule::Members(Box::new(members)));
        }
        rules.extend(self.one(place, "propertyNames").map(Rule::PropertyNames));
        if let Some(names) = place.keywords.get("required") {
            let names = texts(names).ok_or_else(|| place.invalid("required", NAMES))?;
            rules.push(Rule::Required(names));
        }
        if let Some(dependencies) = place.keywords.get("dependentRequired") {
            let dependencies = dependencies.as_object().and_then(|map| {
                map.iter().map(|(name, names)| Some((name.clone(), texts(names)?))).collect()
            });
            let dependencies =
                dependencies.ok_or_else(|| place.invalid("dependentRequired", NAMES))?;
            rules.push(Rule::DependentRequired(dependencies));
        }
        let dependent = self.map(place, "dependentSchemas")?;
        if !dependent.is_empty() {
            rules.push(Rule::DependentSchemas(dependent));
        }
        rules.extend(limit(place, "minProperties")?.map(Rule::MinProperties));
        rules.extend(limit(place, "maxProperties")?.map(Rule::MaxProperties));
        Ok(())
    }

    fn in_place(&mut self, place: Place<'s, '_>, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
        rules.extend(self.list(place, "allOf")?.map(Rule::AllOf));
        rules.extend(self.list(place, "anyOf")?.map(Rule::AnyOf));
        rules.extend(self.list(place, "oneOf")?.map(Rule::OneOf));
        rules.extend(self.one(place, "not").map(Rule::Not));
        if let Some(condition) = self.one(place, "if") {
            let (then, otherwise) = (self.one(place, "then"), self.one(place, "else"));
            rules.push(Rule::If { condition, then, otherwise });
        }
        Ok(())
    }

    fn one(&mut self, place: Place<'s, '_>, keyword: &str) -> Option<NodeId> {
        let schema = place.keywords.get(keyword)?;
        Some(self.slot(schema, place.below(keyword)))
    }

    fn list(
        &mut self,
        place: Place<'s, '_>,
        keyword: &str,
    ) -> Result<Option<Vec<NodeId>>, SchemaError> {
        let Some(value) = place.keywords.get(keyword) else { return Ok(None) };
        let list = value.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| place.invalid(keyword, "must be a list of schemas"))?;
        let pointer = place.below(keyword);
        let slots = list.iter().enumerate();
        Ok(Some(slots.map(|(index, s)| self.slot(s, format!("{pointer}/{index}"))).collect()))
    }

    fn map(
        &mut self,
        place: Place<'s, '_>,
        keyword: &str,
    ) -> Result<Vec<(String, NodeId)>, SchemaError> {
        let Some(value) = place.keywords.get(keyword) else { return Ok(Vec::new()) };
        let map = value.as_object();
        let map = map.ok_or_else(|| place.invalid(keyword, "must be a map of schemas"))?;
        let pointer = place.below(keyword);
        let slot = |(name, schema): (&String, &'s Value)| {
            let escaped = name.replace('~', "~0").replace('/', "~1");
            (name.clone(), self.slot(schema, format!("{pointer}/{escaped}")))
        };
        Ok(map.iter().map(slot).collect())
    }
}

/// Makes a rule about numbers.
type FromNumber = fn(Number) -> Rule;

const NAMES: &str = "must be a list of names";

fn types(place: Place<'_, '_>) -> Result<Types, SchemaError> {
    let known = |name: &Value| name.as_str().and_then(Types::named);
    let types = match place.keywords.get("type") {
        None => Some(Types::ANY),
        Some(Value::Array(names)) if !names.is_empty() => {
            names.iter().try_fold(Types::NONE, |types, name| Some(types.or(known(name)?)))
        }
        Some(name) => known(name),
    };
    types.ok_or_else(|| place.invalid("type", "must be a type or a list of types"))
}

fn values(place: Place<'_, '_>, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
    match place.keywords.get("enum") {
        None => {}
        Some(Value::Array(options)) => rules.push(Rule::Enum(options.clone())),
        Some(_) => return Err(place.invalid("enum", "must be a list of values")),
    }
    rules.extend(place.keywords.get("const").cloned().map(Rule::Const));
    Ok(())
}

fn numbers(place: Place<'_, '_>, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
    let bounds: [(&str, FromNumber); 5] = [
        ("multipleOf", Rule::MultipleOf),
        ("minimum", Rule::Minimum),
        ("maximum", Rule::Maximum),
        ("exclusiveMinimum", Rule::ExclusiveMinimum),
        ("exclusiveMaximum", Rule::ExclusiveMaximum),
    ];
    for (keyword, rule) in bounds {
        match place.keywords.get(keyword) {
            None => {}
            Some(Value::Number(step))
                if keyword == "multipleOf" && step.as_f64().is_none_or(|step| step <= 0.0) =>
            {
                return Err(place.invalid(keyword, "must be more than 0"));
            }
            Some(Value::Number(number)) => rules.push(rule(number.clone())),
            Some(_) => return Err(place.invalid(keyword, "must be a number")),
        }
    }
    Ok(())
}

fn strings(place: Place<'_, '_>, rules: &mut Vec<Rule>) -> Result<(), SchemaError> {
    rules.extend(limit(place, "minLength")?.map(Rule::MinLength));
    rules.extend(limit(place, "maxLength")?.map(Rule::MaxLength));
    // One that nobody here can run must not make the tool uncallable.
    let pattern = place.keywords.get("pattern").and_then(Value::as_str);
    rules.extend(pattern.and_then(Pattern::new).map(Rule::Pattern));
    Ok(())
}

/// A count of characters, elements or members.
fn limit(place: Place<'_, '_>, keyword: &str) -> Result<Option<u64>, SchemaError> {
    let Some(value) = place.keywords.get(keyword) else { return Ok(None) };
    let whole = |float: &f64| *float >= 0.0 && float.fract() == 0.0;
    let limit = value.as_u64().or_else(|| value.as_f64().filter(whole).map(|float| float as u64));
    limit.map(Some).ok_or_else(|| place.invalid(keyword, "must be a whole number from 0 up"))
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

/// Refuses a schema that is, by way of its references, nothing but itself.
fn refuse_bottomless(program: &Program) -> Result<(), SchemaError> {
    let next = |id: NodeId| {
        program.nodes.get(id)?.rules.iter().find_map(|rule| match rule {
            Rule::Ref(target) => Some(*target),
            _ => None,
        })
    };
    // Which walk came by first.
    let mut walks: Vec<Option<NodeId>> = vec![None; program.nodes.len()];
    for start in 0..program.nodes.len() {
        let mut at = Some(start);
        while let Some(id) = at {
            match walks.get_mut(id) {
                Some(walk @ None) => *walk = Some(start),
                Some(Some(walk)) if *walk == start => {
                    return Err(invalid("", "a reference leads back to itself"));
                }
                _ => break,
            }
            at = next(id);
        }
    }
    Ok(())
}

impl Place<'_, '_> {
    fn below(self, keyword: &str) -> String {
        format!("{}/{keyword}", self.pointer)
    }

    fn invalid(self, keyword: &str, message: &str) -> SchemaError {
        invalid(&self.below(keyword), message)
    }
}

fn invalid(pointer: &str, message: &str) -> SchemaError {
    SchemaError::Invalid { pointer: pointer.to_owned(), message: message.to_owned() }
}
