//! Lists of `name=value` with commas between them, as headers and attributes are written.

use percent_encoding::percent_decode_str;

/// The pairs of a list, with values decoded. None if something is no pair.
///
/// Nothing between two commas is no fault: people end their lists with one.
pub(crate) fn parse(list: &str) -> Option<Vec<(String, String)>> {
    list.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn pair(pair: &str) -> Option<(String, String)> {
    let (name, value) = pair.split_once('=')?;
    let name = name.trim();
    let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
    (!name.is_empty()).then(|| (name.to_owned(), value.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_may_hold_an_equals_sign() {
        for (list, pairs) in [
            ("", Some(vec![])),
            (" a = 1 ,b=x%20y%2Cz,", Some(vec![("a", "1"), ("b", "x y,z")])),
            ("key=YWJj==", Some(vec![("key", "YWJj==")])),
            ("a=100%", Some(vec![("a", "100%")])),
            ("a", None),
            ("=a", None),
            ("a=%ff", None),
        ] {
            let pairs = pairs.map(|pairs| {
                pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
            });
            assert_eq!(parse(list), pairs, "{list}");
        }
    }
}
