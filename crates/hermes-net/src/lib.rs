#![doc = include_str!("../README.md")]

mod base_url;
mod body;
mod client;
mod connect;
mod decode;
mod error;
mod gate;
pub mod osv;
mod pool;
mod redirect;
mod request;
mod resolve;
mod tls;
mod websites;

pub use base_url::BaseUrl;
pub use body::{Body, Response};
pub use client::{Client, ClientBuilder};
pub use connect::Wire;
pub use error::{NetError, NetErrorKind};
pub use gate::{UrlFuture, UrlGate};
pub use hyper::{HeaderMap, Method, StatusCode};
pub use request::Request;
pub use resolve::{Resolve, Resolved, SystemResolver};
pub use websites::{LivePolicy, Websites};
