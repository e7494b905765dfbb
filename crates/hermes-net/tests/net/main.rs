//! The client against servers of the tests' own, on the loopback interface.

mod body;
mod connecting;
mod osv;
mod redirects;
mod server;
mod tls;
mod waiting;
