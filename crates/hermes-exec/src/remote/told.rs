//! The end of a command, as whoever follows it tells it.

use tokio::sync::watch;

use crate::environment::Exit;

/// How a command ended, once that is told; lost, when nobody is left who could.
pub async fn told(mut exit: watch::Receiver<Option<Exit>>) -> Exit {
    let told = exit.wait_for(Option::is_some).await.ok().and_then(|exit| exit.clone());
    told.unwrap_or_else(|| Exit::Lost("nobody follows the command any more".to_owned()))
}
