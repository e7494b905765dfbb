#![doc = include_str!("../docs.md")]

mod args;
mod checks;
mod consent;
mod detect;
mod display_text;
mod document;
mod external;
mod fault;
mod guard;
mod miss;
mod patch;
mod patch_files;
mod path;
mod read_file;
mod search;
mod search_files;
mod shown;
mod state;
mod suggest;
mod text;
mod touched;
mod window;
mod work;
mod write_file;

pub use args::{MAX_SEARCH_LIMIT, Paging, normalize_pagination};

hermes_registry::tools![
    read_file::READ_FILE,
    write_file::WRITE_FILE,
    patch::PATCH,
    search_files::SEARCH_FILES
];
