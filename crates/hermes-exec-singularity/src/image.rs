//! The file of an image.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_exec_container::unique;
use hermes_exec_policy::choice::SingularityImage;

use crate::client::Client;
use crate::scratch;

/// How long building an image may take.
const BUILD: Duration = Duration::from_secs(600);

/// What an instance is started from. An image of a registry is built where it wasn't yet; if that
/// fails the client is left to see what it can do with its name.
pub(crate) async fn resolved(image: &str, client: &Client, scratch: &Path) -> String {
    let (file, source) = match SingularityImage::of(image) {
        SingularityImage::AsIs(image) => return image,
        SingularityImage::Build { file, source } => (file, source),
    };
    match built(&file, &source, client, scratch).await {
        Ok(file) => file.display().to_string(),
        Err(why) => {
            tracing::warn!(image = source, why, "the image isn't built, and used as it is");
            source
        }
    }
}

async fn built(
    name: &str,
    source: &str,
    client: &Client,
    scratch: &Path,
) -> Result<PathBuf, String> {
    let cache = scratch::cache(scratch, client).map_err(|error| error.to_string())?;
    let file = cache.join(name);
    if file.exists() {
        return Ok(file);
    }
    let temporary = cache.join("tmp");
    std::fs::create_dir_all(&temporary).map_err(|error| error.to_string())?;
    let client = client.with(&[("APPTAINER_TMPDIR", &*temporary), ("APPTAINER_CACHEDIR", &*cache)]);
    // Whoever else builds it makes the same; the last one stays.
    let partial = cache.join(format!(".{}.sif", unique()));
    let arguments = ["build".as_ref(), partial.as_os_str(), source.as_ref()];
    let made = client
        .ask_for(BUILD, &arguments)
        .await
        .and_then(|_| std::fs::rename(&partial, &file).map_err(|error| error.to_string()));
    if made.is_err() {
        // It may not be there.
        let _ = std::fs::remove_file(&partial);
    }
    made.map(|()| file)
}
