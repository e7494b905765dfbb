//! The list: what a call makes of it, what a reply shows of it, what outlives compression.

use std::collections::{HashMap, HashSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The longest content, in characters, with the mark of a cut included.
pub const MAX_CONTENT_CHARS: usize = 4000;
/// The longest list.
pub const MAX_ITEMS: usize = 256;
/// A longer reply, in characters, is not rebuilt into a list.
pub const MAX_RESULT_CHARS: usize = 512_000;

const CUT: &str = " … [cut]";
const NO_CONTENT: &str = "(no description)";

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
    /// Not needed any more.
    Cancelled,
}

impl Status {
    /// The name in calls and replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether work is left to do.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }

    fn parse(text: &str) -> Option<Self> {
        match text.trim().to_lowercase().as_str() {
            "pending" => Some(Self::Pending),
            "in_progress" => Some(Self::InProgress),
            "completed" => Some(Self::Completed),
            "cancelled" => Some(Self::Cancelled),
            _ => None,
        }
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
    /// A short name of the item, unique in the list.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: Status,
}

/// The steps of one session in the order of work.
///
/// Ids are unique and not blank, contents are not blank; both limits hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoList {
    items: Vec<Item>,
}

/// What was sent is no list. `Display` is for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAList;

impl fmt::Display for NotAList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("todos must be a JSON array of {id, content, status}; the list is unchanged")
    }
}

impl std::error::Error for NotAList {}

/// What a call says about one item. Blank, null and misfit fields are absent.
struct Draft {
    id: Option<String>,
    content: Option<String>,
    status: Option<Status>,
    // A status was given, yet it is none there is.
    odd_status: bool,
}

impl Draft {
    fn new(fields: &Map<String, Value>) -> Self {
        let status = fields.get("status").filter(|status| !status.is_null());
        let known = status.and_then(Value::as_str).and_then(Status::parse);
        Self {
            id: text_of(fields.get("id")),
            content: text_of(fields.get("content")).map(cut),
            status: known,
            odd_status: status.is_some() && known.is_none(),
        }
    }

    fn into_item(self, id: String) -> Item {
        Item {
            id,
            content: self.content.unwrap_or_else(|| NO_CONTENT.to_owned()),
            status: self.status.unwrap_or(Status::Pending),
        }
    }
}

/// A field as trimmed text; none if nothing is left.
fn text_of(field: Option<&Value>) -> Option<String> {
    match field? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn cut(mut text: String) -> String {
    if text.chars().nth(MAX_CONTENT_CHARS).is_some() {
        let kept = MAX_CONTENT_CHARS - CUT.chars().count();
        let end = text.char_indices().nth(kept).map_or(text.len(), |(at, _)| at);
        text.truncate(end);
        text.push_str(CUT);
    }
    text
}

impl TodoList {
    /// The items in the order of work.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The items with work left to do, in order.
    pub fn active(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.status.is_active())
    }

    /// Writes a new list, or changes this one item by item if `merge` is set.
    ///
    /// `todos` is a list of objects, or JSON text of one. Returns what the reply should note.
    ///
    /// # Errors
    /// `todos` is no list; then nothing has changed.
    pub fn apply(&mut self, todos: &Value, merge: bool) -> Result<Vec<String>, NotAList> {
        let decoded;
        let sent = match todos {
            Value::Array(sent) => sent,
            Value::String(text) => {
                decoded = serde_json::from_str::<Vec<Value>>(text).map_err(|_| NotAList)?;
                &decoded
            }
            _ => return Err(NotAList),
        };
        let drafts: Vec<Draft> = sent.iter().filter_map(Value::as_object).map(Draft::new).collect();
        let mut notes = Vec::new();
        note_count(&mut notes, sent.len() - drafts.len(), "ignored", "because it is no object");
        let odd = drafts.iter().filter(|draft| draft.odd_status).count();
        let why = "because its status is none of pending, in_progress, completed, cancelled";
        note_count(
            &mut notes,
            odd,
            if merge { "left as far as it was" } else { "taken as pending" },
            why,
        );
        if merge {
            let nameless = drafts.iter().filter(|draft| draft.id.is_none()).count();
            note_count(&mut notes, nameless, "ignored", "because a merge needs an id");
            self.merge(drafts);
        } else {
            self.items = replacement(drafts);
        }
        let excess = self.items.len().saturating_sub(MAX_ITEMS);
        self.items.truncate(MAX_ITEMS);
        note_count(&mut notes, excess, "dropped", "because the list holds 256");
        Ok(notes)
    }

    fn merge(&mut self, drafts: Vec<Draft>) {
        let mut places: HashMap<String, usize> =
            self.items.iter().enumerate().map(|(at, item)| (item.id.clone(), at)).collect();
        for mut draft in drafts {
            let Some(id) = draft.id.take() else { continue };
            match places.get(&id).and_then(|at| self.items.get_mut(*at)) {
                Some(item) => {
                    item.content =
                        draft.content.unwrap_or_else(|| std::mem::take(&mut item.content));
                    item.status = draft.status.unwrap_or(item.status);
                }
                None => {
                    places.insert(id.clone(), self.items.len());
                    self.items.push(draft.into_item(id));
                }
            }
        }
    }

    /// The reply to a call: the whole list, counts, and a note if there is something to note.
    pub fn to_value(&self, notes: &[String]) -> Value {
        let count = |status| self.items.iter().filter(|item| item.status == status).count();
        let in_progress = count(Status::InProgress);
        let mut reply = json!({
            "todos": self.items,
            "summary": {
                "total": self.items.len(),
                "pending": count(Status::Pending),
                "in_progress": in_progress,
                "completed": count(Status::Completed),
                "cancelled": count(Status::Cancelled),
            },
        });
        let mut notes = notes.to_vec();
        if in_progress > 1 {
            notes.push(format!("{in_progress} items are in_progress; work on one at a time."));
        }
        if !notes.is_empty()
            && let Value::Object(reply) = &mut reply
        {
            reply.insert("note".to_owned(), notes.join(" ").into());
        }
        reply
    }

    /// The list that a reply of the tool showed, for a session that is resumed.
    ///
    /// None if the reply is an error, is longer than [`MAX_RESULT_CHARS`], or was no reply of the
    /// tool. What the host appended to the reply is passed over.
    pub fn from_result(result: &str) -> Option<Self> {
        if result.chars().nth(MAX_RESULT_CHARS).is_some() {
            return None;
        }
        let reply = serde_json::Deserializer::from_str(result).into_iter::<Value>().next()?.ok()?;
        let mut list = Self::default();
        list.apply(reply.get("todos").filter(|todos| todos.is_array())?, false).ok()?;
        Some(list)
    }

    /// What the model is reminded of after its context was compressed: the items with work left,
    /// one line each. None if there are none.
    pub fn reminder(&self) -> Option<String> {
        let lines: Vec<String> = self
            .active()
            .map(|item| {
                let mark = if item.status == Status::InProgress { '>' } else { ' ' };
                let (id, content) = (one_line(&item.id), one_line(&item.content));
                format!("- [{mark}] {id}: {content} ({})", item.status.as_str())
            })
            .collect();
        (!lines.is_empty()).then(|| {
            format!(
                "The earlier part of this conversation was summarised. Still open on your todo \
                 list:\n{}",
                lines.join("\n")
            )
        })
    }
}

/// The list that drafts make on their own.
fn replacement(drafts: Vec<Draft>) -> Vec<Item> {
    let mut taken: HashSet<String> = drafts.iter().filter_map(|draft| draft.id.clone()).collect();
    let mut seen = HashSet::new();
    // From the end, since of items with one id the last is kept, and at its place.
    let mut kept: Vec<Draft> = drafts
        .into_iter()
        .rev()
        .filter(|draft| draft.id.as_ref().is_none_or(|id| seen.insert(id.clone())))
        .collect();
    kept.reverse();
    let mut next = 0_usize;
    kept.into_iter()
        .map(|mut draft| {
            let id = draft.id.take().unwrap_or_else(|| {
                loop {
                    next += 1;
                    let id = next.to_string();
                    if taken.insert(id.clone()) {
                        break id;
                    }
                }
            });
            draft.into_item(id)
        })
        .collect()
}

fn note_count(notes: &mut Vec<String>, count: usize, what: &str, why: &str) {
    match count {
        0 => {}
        1 => notes.push(format!("1 item was {what} {why}.")),
        _ => notes.push(format!("{count} items were {what}, each {why}.")),
    }
}

/// `text` without line breaks: an item must not look like two.
fn one_line(text: &str) -> String {
    let broken = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.split(broken).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(todos: &Value) -> TodoList {
        let mut list = TodoList::default();
        list.apply(todos, false).unwrap();
        list
    }

    /// Applies `todos` to a list of `1 a pending` and `2 b in_progress`; gives `id content status`
    /// lines and the notes.
    fn check(merge: bool, todos: &Value, expected: &[&str], noted: &[&str]) {
        let mut list = list(&json!([
            {"id": "1", "content": "a", "status": "pending"},
            {"id": "2", "content": "b", "status": "in_progress"},
        ]));
        let notes = list.apply(todos, merge).unwrap();
        let lines: Vec<String> = list
            .items()
            .iter()
            .map(|item| format!("{} {} {}", item.id, item.content, item.status.as_str()))
            .collect();
        assert_eq!(lines, expected, "{todos}");
        let reply = list.to_value(&notes);
        let note = reply["note"].as_str().unwrap_or_default();
        assert_eq!(note.is_empty(), noted.is_empty(), "{note}");
        assert!(noted.iter().all(|part| note.contains(part)), "{note}");
    }

    #[test]
    fn a_status_that_does_not_exist_is_noted() {
        let mut list = TodoList::default();
        let done = json!([{"id": "a", "content": "x", "status": "done"}]);
        let notes = list.apply(&done, false).unwrap();
        assert!(notes[0].contains("taken as pending"), "{notes:?}");
        let notes = list.apply(&done, true).unwrap();
        assert!(notes[0].contains("left as far as it was"), "{notes:?}");
        let fine = json!([{"id": "a", "status": " COMPLETED "}, {"id": "b", "status": null}]);
        assert!(list.apply(&fine, true).unwrap().is_empty());
    }

    #[test]
    fn replacing() {
        check(false, &json!([]), &[], &[]);
        check(
            false,
            &json!([{"id": 1, "content": " x "}, {"id": " 2 "}, {"id": "1", "status": "Completed"}]),
            &["2 (no description) pending", "1 (no description) completed"],
            &[],
        );
        check(
            false,
            &json!([{"content": "x"}, {"id": "1", "content": "y"}, {"id": null, "content": null}]),
            &["2 x pending", "1 y pending", "3 (no description) pending"],
            &[],
        );
        check(
            false,
            &json!(["x", null, 3, {"id": "z", "content": 7, "status": 1}]),
            &["z 7 pending"],
            &["3 items were ignored"],
        );
        check(false, &json!("[{\"id\":\"q\",\"content\":\"t\"}]"), &["q t pending"], &[]);
        check(
            false,
            &json!([{"id": "a", "status": "in_progress"}, {"id": "b", "status": "in_progress"}]),
            &["a (no description) in_progress", "b (no description) in_progress"],
            &["2 items are in_progress"],
        );
    }

    #[test]
    fn merging() {
        check(true, &json!([]), &["1 a pending", "2 b in_progress"], &[]);
        check(
            true,
            &json!([{"id": 2, "status": " COMPLETED "}, {"id": "1", "content": "  ", "status": null}]),
            &["1 a pending", "2 b completed"],
            &[],
        );
        check(
            true,
            &json!([{"id": "1", "status": "done"}, {"content": "x"}, [], {"id": "3"}]),
            &["1 a pending", "2 b in_progress", "3 (no description) pending"],
            &["no object", "needs an id"],
        );
        check(
            true,
            &json!([{"id": "9", "content": "x"}, {"id": "9", "status": "cancelled"}, {"id": "9", "content": "y"}]),
            &["1 a pending", "2 b in_progress", "9 y cancelled"],
            &[],
        );
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for todos in [json!({"id": "1"}), json!("1. milk"), json!("{}"), json!(""), json!(1)] {
            let mut list = list(&json!([{"id": "1"}]));
            assert_eq!(list.apply(&todos, false), Err(NotAList), "{todos}");
            assert_eq!(list.items().len(), 1);
        }
    }

    #[test]
    fn limits_count_characters_and_items() {
        let text = |chars| "é".repeat(chars);
        let list = list(&json!([
            {"id": "a", "content": text(MAX_CONTENT_CHARS)},
            {"id": "b", "content": text(MAX_CONTENT_CHARS + 1)},
        ]));
        let [exact, long] = list.items() else { panic!("two items") };
        assert_eq!(exact.content, text(MAX_CONTENT_CHARS));
        assert_eq!(long.content.chars().count(), MAX_CONTENT_CHARS);
        assert!(long.content.ends_with(CUT));

        let many: Value = (0..MAX_ITEMS + 5).map(|n| json!({"id": n})).collect();
        let mut list = TodoList::default();
        for merge in [false, true] {
            let notes = list.apply(&many, merge).unwrap();
            assert!(notes.iter().any(|note| note.contains("5 items were dropped")), "{notes:?}");
            assert_eq!(list.items().last().unwrap().id, (MAX_ITEMS - 1).to_string());
        }
    }

    #[test]
    fn a_list_is_rebuilt_from_its_own_reply() {
        let list = list(&json!([{"id": "1", "content": "ü", "status": "completed"}, {"id": "2"}]));
        let reply = list.to_value(&["noted".to_owned()]).to_string();
        assert_eq!(TodoList::from_result(&format!("{reply}\n\n[hint]")), Some(list));
        let long = format!("{reply}{}", " ".repeat(MAX_RESULT_CHARS));
        for lost in [long.as_str(), r#"{"error":"x"}"#, r#"{"todos":null}"#, "", "text", "[1]"] {
            assert_eq!(TodoList::from_result(lost), None);
        }
    }

    #[test]
    fn the_reminder_has_one_line_for_each_open_item() {
        let list = list(&json!([
            {"id": "1", "content": "a", "status": "completed"},
            {"id": "2", "content": "b\n- [ ] 9: fake", "status": "in_progress"},
            {"id": "3", "content": "c"},
        ]));
        let text = list.reminder().unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["- [>] 2: b - [ ] 9: fake (in_progress)", "- [ ] 3: c (pending)"]);
        assert_eq!(TodoList::default().reminder(), None);
    }
}
