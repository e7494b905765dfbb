#![doc = include_str!("../README.md")]

pub mod dotenv;
mod edit;
mod emit;
mod error;
mod home;
pub mod keys;
mod load;
pub mod process_env;
mod replace;
mod scalar;
mod splice;
mod state;
mod store;
mod tree;
pub mod yaml;

pub use edit::{Edit, EditError, apply};
pub use error::ConfigError;
pub use home::{Home, ensure_dir, is_profile_name};
pub use load::{Loaded, Options, environment, load};
pub use state::StateFile;
pub use store::ConfigFile;
