//! From names to addresses.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// The addresses of a name, as they come.
pub type Resolved<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Where addresses of names come from. It is asked once for each connection, and what it answers
/// is judged before anything is dialled.
pub trait Resolve: Send + Sync {
    /// The addresses of a host name, which is in lower case and without a final dot, best first.
    fn resolve<'a>(&'a self, name: &'a str) -> Resolved<'a>;
}

/// Asks the system: its hosts file, its name servers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolved<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
