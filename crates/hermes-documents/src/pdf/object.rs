//! The values that a PDF is made of. Copies are cheap, since files may refer to the same value any
//! number of times.

use std::rc::Rc;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    Null,
    Bool(bool),
    Number(f64),
    Name(Rc<[u8]>),
    Text(Rc<[u8]>),
    Array(Rc<[Object]>),
    Dict(Rc<Dict>),
    /// The number of an object elsewhere in the file.
    Reference(u32),
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A number from 0 on, without its fraction.
    pub(super) fn integer(&self) -> Option<usize> {
        let number = self.number().filter(|n| (0.0..9e15).contains(n))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was just checked"
        )]
        Some(number as usize)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn dict(&self) -> Option<&Rc<Dict>> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }
}

/// Names and their values. The last value of a name counts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Dict(Vec<(Rc<[u8]>, Object)>);

impl Dict {
    /// From names and values in turn.
    pub(super) fn of(items: Vec<Object>) -> Self {
        let mut entries = Vec::with_capacity(items.len() / 2);
        let mut items = items.into_iter();
        while let Some(key) = items.next() {
            let (Object::Name(key), Some(value)) = (key, items.next()) else { continue };
            entries.push((key, value));
        }
        // Stable, so that the last of several is the last still.
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Self(entries)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Object> {
        let key = key.as_bytes();
        let after = self.0.partition_point(|(name, _)| &**name <= key);
        let (name, value) = self.0.get(after.checked_sub(1)?)?;
        (&**name == key).then_some(value)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Object> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Whether a name stands for itself there, such as `/Type /Page`.
    pub(super) fn is(&self, key: &str, name: &str) -> bool {
        self.get(key).and_then(Object::name) == Some(name.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_last_value_of_a_name_counts() {
        let name = |name: &str| Object::Name(name.as_bytes().into());
        let items =
            vec![name("B"), Object::Number(1.0), name("A"), name("x"), name("B"), Object::Null];
        let dict = Dict::of(items);
        assert_eq!(dict.get("B"), Some(&Object::Null));
        assert!(dict.is("A", "x"));
        assert_eq!(dict.get("C"), None);
    }
}
