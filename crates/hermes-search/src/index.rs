//! An inverted index over tools, ranked by BM25.
//!
//! A document is a tool's name, its description and the names of its top-level parameters. A term
//! found in the name weighs more than one found elsewhere.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::Value;

use crate::catalog::CatalogEntry;
use crate::tokens::{Role, each_token, fold, number_variants};

/// How fast a repeated term loses weight.
const K1: f64 = 1.5;
/// How much long documents are held back.
const B: f64 = 0.75;
/// A hit in the name against one in the description. Repetition alone lifts the latter to at most
/// `K1 + 1`, so that a tool named after a word beats one that keeps mentioning it.
const NAME_WEIGHT: f64 = 3.0;
/// A hit by the plural or singular of a query's word against one by the word itself.
const VARIANT_WEIGHT: f32 = 0.9;
/// A hit by the beginning of a word.
const PREFIX_WEIGHT: f32 = 0.5;
/// Shortest beginning of a word that is looked for, in characters.
const PREFIX_CHARS: usize = 3;
/// Most words that one beginning stands for.
const PREFIX_TERMS: usize = 64;
/// Characters of a query that are looked at.
const QUERY_CHARS: usize = 2000;

/// Finds tools by words. Positions are those of the entries it was made from.
#[derive(Debug, Default)]
pub struct SearchIndex {
    /// Folded names, for exact and substring matches.
    names: Vec<String>,
    /// Per document: the denominator's share that depends on its length.
    norms: Vec<f64>,
    /// Sorted by term.
    terms: Vec<(Box<str>, Vec<Posting>)>,
}

/// How often a term is in a document.
#[derive(Debug, Clone, Copy)]
struct Posting {
    document: u32,
    in_name: f32,
    elsewhere: f32,
}

/// A distinct word of a query.
struct QueryTerm {
    /// How often the query has it.
    count: f64,
    role: Role,
}

impl SearchIndex {
    /// Indexes `entries`.
    #[must_use]
    pub fn new(entries: &[CatalogEntry]) -> Self {
        let mut builder = Builder::default();
        for entry in entries {
            builder.add(entry);
        }
        builder.finish()
    }

    /// Positions of up to `limit` tools that match `query`, best first; equally good ones keep
    /// their order.
    ///
    /// If no word of the query is found, tools whose name contains the query as a whole match,
    /// in their order; failing these, tools that have a word beginning like one in the query.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<usize> {
        let query: String = query.trim().chars().take(QUERY_CHARS).collect();
        let query_terms = query_terms(&query);
        if query_terms.is_empty() || limit == 0 {
            return Vec::new();
        }
        let mut scores = vec![0.0; self.names.len()];
        let mut found = false;
        let mut missing = Vec::new();
        for (word, term) in &query_terms {
            let forms = self.forms(word);
            if forms.is_empty() {
                missing.push((word, term));
            } else {
                found = true;
                self.add_scores(&mut scores, &forms, term.count);
            }
        }
        let query = fold(&query);
        if !found {
            let named: Vec<usize> = self
                .names
                .iter()
                .enumerate()
                .filter(|(_, name)| name.contains(&*query))
                .map(|(position, _)| position)
                .take(limit)
                .collect();
            if !named.is_empty() {
                return named;
            }
        }
        for (word, term) in missing {
            if term.role == Role::Word {
                self.add_scores(&mut scores, &self.beginning_with(word), term.count);
            }
        }
        self.best(&scores, &query, limit)
    }

    fn postings(&self, term: &str) -> Option<&[Posting]> {
        let position = self.terms.binary_search_by(|(known, _)| (**known).cmp(term)).ok()?;
        self.terms.get(position).map(|(_, postings)| postings.as_slice())
    }

    /// The postings of `word` and of its other number, with their weights.
    fn forms(&self, word: &str) -> Vec<(&[Posting], f32)> {
        let variants = number_variants(word);
        let variants =
            variants.iter().filter_map(|form| Some((self.postings(form)?, VARIANT_WEIGHT)));
        self.postings(word).map(|postings| (postings, 1.0)).into_iter().chain(variants).collect()
    }

    fn beginning_with(&self, prefix: &str) -> Vec<(&[Posting], f32)> {
        if prefix.chars().count() < PREFIX_CHARS {
            return Vec::new();
        }
        let start = self.terms.partition_point(|(term, _)| **term < *prefix);
        self.terms
            .iter()
            .skip(start)
            .take_while(|(term, _)| term.starts_with(prefix))
            .take(PREFIX_TERMS)
            .map(|(_, postings)| (postings.as_slice(), PREFIX_WEIGHT))
            .collect()
    }

    /// Adds what one query term, in any of its `forms`, is worth to each document.
    fn add_scores(&self, scores: &mut [f64], forms: &[(&[Posting], f32)], count: f64) {
        let mut hits: Vec<Posting> = forms
            .iter()
            .flat_map(|&(postings, weight)| {
                postings.iter().map(move |posting| Posting {
                    document: posting.document,
                    in_name: posting.in_name * weight,
                    elsewhere: posting.elsewhere * weight,
                })
            })
            .collect();
        if forms.len() > 1 {
            hits.sort_by_key(|hit| hit.document);
            hits.dedup_by(|next, kept| {
                let same = next.document == kept.document;
                if same {
                    kept.in_name += next.in_name;
                    kept.elsewhere += next.elsewhere;
                }
                same
            });
        }
        let documents = self.names.len() as f64;
        let having = hits.len() as f64;
        let idf = ((documents - having + 0.5) / (having + 0.5)).ln_1p();
        for hit in hits {
            let position = hit.document as usize;
            if let (Some(score), Some(norm)) = (scores.get_mut(position), self.norms.get(position))
            {
                let saturated = |frequency: f32| {
                    let frequency = f64::from(frequency);
                    frequency * (K1 + 1.0) / (frequency + norm)
                };
                let weight = NAME_WEIGHT * saturated(hit.in_name) + saturated(hit.elsewhere);
                *score += count * idf * weight;
            }
        }
    }

    /// The best documents, one that is named exactly like the query first.
    fn best(&self, scores: &[f64], query: &str, limit: usize) -> Vec<usize> {
        let mut hits: Vec<(usize, bool, f64)> = scores
            .iter()
            .zip(&self.names)
            .enumerate()
            .filter(|(_, (score, _))| **score > 0.0)
            .map(|(position, (score, name))| (position, name == query, *score))
            .collect();
        // Stable, so that ties stay in order.
        hits.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.total_cmp(&a.2)));
        hits.into_iter().map(|(position, ..)| position).take(limit).collect()
    }
}

/// The distinct terms of `query` in the order of their first use.
fn query_terms(query: &str) -> IndexMap<String, QueryTerm> {
    let mut terms: IndexMap<String, QueryTerm> = IndexMap::new();
    each_token(query, |token, role| {
        if role != Role::Single {
            terms.entry(token.to_owned()).or_insert(QueryTerm { count: 0.0, role }).count += 1.0;
        }
    });
    terms
}

#[derive(Default)]
struct Builder {
    names: Vec<String>,
    lengths: Vec<f64>,
    ids: HashMap<Box<str>, usize>,
    postings: Vec<Vec<Posting>>,
}

impl Builder {
    fn add(&mut self, entry: &CatalogEntry) {
        let document = self.names.len() as u32;
        self.names.push(fold(&entry.name).into_owned());
        let mut length = self.add_text(document, &entry.name, true);
        length += self.add_text(document, &entry.description, false);
        if let Some(Value::Object(properties)) = entry.parameters.get("properties") {
            for name in properties.keys() {
                length += self.add_text(document, name, false);
            }
        }
        self.lengths.push(length);
    }

    /// Counts the tokens of `text` and returns its length.
    fn add_text(&mut self, document: u32, text: &str, is_name: bool) -> f64 {
        let mut length = 0.0;
        each_token(text, |token, role| {
            if role == Role::Word {
                length += 1.0;
            }
            let id = match self.ids.get(token) {
                Some(id) => *id,
                None => {
                    let id = self.postings.len();
                    self.ids.insert(token.into(), id);
                    self.postings.push(Vec::new());
                    id
                }
            };
            let Some(postings) = self.postings.get_mut(id) else { return };
            let (in_name, elsewhere) = if is_name { (1.0, 0.0) } else { (0.0, 1.0) };
            match postings.last_mut() {
                Some(last) if last.document == document => {
                    last.in_name += in_name;
                    last.elsewhere += elsewhere;
                }
                _ => postings.push(Posting { document, in_name, elsewhere }),
            }
        });
        length
    }

    fn finish(mut self) -> SearchIndex {
        let total: f64 = self.lengths.iter().sum();
        let average = (total / self.lengths.len().max(1) as f64).max(1.0);
        let norms = self.lengths.iter().map(|length| K1 * (1.0 - B + B * length / average));
        let mut terms: Vec<(Box<str>, Vec<Posting>)> = self
            .ids
            .into_iter()
            .map(|(term, id)| {
                (term, self.postings.get_mut(id).map(std::mem::take).unwrap_or_default())
            })
            .collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        SearchIndex { names: self.names, norms: norms.collect(), terms }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::catalog::ToolSource;

    fn index(tools: &[(&str, &str)]) -> SearchIndex {
        let entry = |(name, description): &(&str, &str)| CatalogEntry {
            name: (*name).to_owned(),
            source: ToolSource::Mcp,
            toolset: "mcp-x".to_owned(),
            description: (*description).to_owned(),
            parameters: Arc::new(json!({"type": "object", "properties": {"city": {}}})),
        };
        SearchIndex::new(&tools.iter().map(entry).collect::<Vec<_>>())
    }

    fn check(tools: &[(&str, &str)], query: &str, expected: &[usize]) {
        assert_eq!(index(tools).search(query, 5), expected, "{query}");
    }

    const TOOLS: &[(&str, &str)] = &[
        ("mcp__github__create_issue", "Open a new issue in a repository"),
        ("mcp__slack__post_message", "Send a message to a channel"),
        ("getUserProfile", "Who somebody is"),
        ("mcp__wx__cx", "查询城市天气预报"),
        ("mcp__wx__air", "查询空气质量指数"),
        ("mcp__vn__tt", "Xem dự báo thời tiết theo tỉnh"),
        ("mcp__vn__gv", "Giá vàng hôm nay ở Đà Nẵng"),
    ];

    #[test]
    fn words_find_tools() {
        check(TOOLS, "create github issue", &[0]);
        check(TOOLS, "ISSUES", &[0]);
        check(TOOLS, "user profile", &[2]);
        check(TOOLS, "userProfiles", &[2]);
        check(TOOLS, "天气", &[3]);
        check(TOOLS, "气", &[3, 4]);
        check(TOOLS, "thoi tiet", &[5]);
        check(TOOLS, "thời tiết", &[5]);
        check(TOOLS, "da nang", &[6]);
        check(TOOLS, "Ðà Nẵng", &[6]);
        check(TOOLS, "mcp__slack__post_message", &[1, 3, 4, 5, 6]);
    }

    #[test]
    fn nothing_is_found() {
        for query in ["", "  ", "!!! ???", "__", "zebra", "xy"] {
            check(TOOLS, query, &[]);
        }
        assert_eq!(index(TOOLS).search("issue", 0), Vec::<usize>::new());
        assert_eq!(index(&[]).search("issue", 5), Vec::<usize>::new());
    }

    #[test]
    fn fallbacks() {
        check(TOOLS, "hub__create", &[0]);
        check(TOOLS, "ithub", &[0]);
        check(TOOLS, "repo", &[0]);
        let tools = &[("long_gitlab_list", "x y z"), ("github", "x"), ("other", "digit")];
        check(tools, "git", &[0, 1]);
    }

    #[test]
    fn names_outweigh_descriptions() {
        let tools = &[
            ("other", "deploy deploy deploy deploy deploy deploy"),
            ("deploy_app", "Something else altogether"),
        ];
        check(tools, "deploy", &[1, 0]);
    }

    #[test]
    fn ties_keep_their_order_and_exact_names_come_first() {
        let tools = &[("a_x", "same"), ("b_x", "same"), ("c_x", "same")];
        check(tools, "same", &[0, 1, 2]);
        check(tools, "x", &[0, 1, 2]);
        let long = "word ".repeat(200);
        let tools = &[("send_mail_now", "send mail"), ("send_mail", long.as_str())];
        check(tools, "Send_Mail", &[1, 0]);
    }

    #[test]
    fn accents_decide_between_otherwise_equal_tools() {
        let tools = &[("t1", "bán"), ("t2", "bàn")];
        check(tools, "bàn", &[1, 0]);
        check(tools, "bán", &[0, 1]);
        check(tools, "ban", &[0, 1]);
    }

    #[test]
    fn parameter_names_count() {
        assert_eq!(index(TOOLS).search("city", 100).len(), TOOLS.len());
    }

    proptest! {
        #[test]
        fn searching_never_fails(
            tools in prop::collection::vec(("\\PC{0,12}", "\\PC{0,30}"), 0..8),
            query in "\\PC{0,20}",
            limit in 0usize..6,
        ) {
            let tools: Vec<(&str, &str)> =
                tools.iter().map(|(n, d)| (n.as_str(), d.as_str())).collect();
            let hits = index(&tools).search(&query, limit);
            prop_assert!(hits.len() <= limit);
            prop_assert!(hits.iter().all(|hit| *hit < tools.len()));
            let distinct: std::collections::BTreeSet<_> = hits.iter().collect();
            prop_assert_eq!(distinct.len(), hits.len());
        }
    }
}
