#![doc = include_str!("../docs.md")]

mod args;
mod checks;
mod commit;
mod display_text;
mod external;
mod fault;
mod folder;
mod format_gate;
mod guard;
mod lock;
mod miss;
mod open;
mod patch;
mod patch_files;
mod path;
mod read_file;
mod search;
mod search_files;
mod shown;
mod store;
mod suggest;
mod text;
mod window;
mod write_file;

pub use args::{MAX_SEARCH_LIMIT, Paging, normalize_pagination};

hermes_registry::tools![
    read_file::READ_FILE,
    write_file::WRITE_FILE,
    patch::PATCH,
    search_files::SEARCH_FILES
];
