//! The client against servers of the tests' own, on the loopback interface.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests aren't seen as tests")]

mod body;
mod connecting;
mod gate;
mod osv;
mod redirects;
mod server;
mod tls;
mod waiting;
