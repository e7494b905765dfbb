#![doc = include_str!("../docs.md")]

mod list;
mod store;
mod tool;

pub use list::{Item, MAX_CONTENT_CHARS, MAX_ITEMS, MAX_RESULT_CHARS, NotAList, Status, TodoList};
pub use store::{InMemoryTodos, TodoStore};
pub use tool::TODO;

hermes_registry::tools![TODO];
