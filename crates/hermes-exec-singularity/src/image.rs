//! The file of an image.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_exec_container::unique;

use crate::client::Client;
use crate::scratch;

/// How long building an image may take.
const BUILD: Duration = Duration::from_secs(600);

const REGISTRY: &str = "docker://";

/// The name of the file that an image of a registry is built to.
#[must_use]
pub fn sif_name(image: &str) -> String {
    let name = image.trim();
    let name = name.strip_prefix(REGISTRY).unwrap_or(name);
    format!("{}.sif", name.replace(['/', ':'], "-"))
}

/// What an instance is started from. An image of a registry is built where it wasn't yet; if that
/// fails the client is left to see what it can do with its name.
pub(crate) async fn resolved(image: &str, client: &Client, scratch: &Path) -> String {
    let image = image.trim();
    if !image.starts_with(REGISTRY) {
        return image.to_owned();
    }
    match built(image, client, scratch).await {
        Ok(file) => file.display().to_string(),
        Err(why) => {
            tracing::warn!(image, why, "the image isn't built, and used as it is");
            image.to_owned()
        }
    }
}

async fn built(image: &str, client: &Client, scratch: &Path) -> Result<PathBuf, String> {
    let cache = scratch::cache(scratch, client).map_err(|error| error.to_string())?;
    let file = cache.join(sif_name(image));
    if file.exists() {
        return Ok(file);
    }
    let temporary = cache.join("tmp");
    std::fs::create_dir_all(&temporary).map_err(|error| error.to_string())?;
    let client = client.with(&[("APPTAINER_TMPDIR", &*temporary), ("APPTAINER_CACHEDIR", &*cache)]);
    // Whoever else builds it makes the same; the last one stays.
    let partial = cache.join(format!(".{}.sif", unique()));
    let arguments = ["build".as_ref(), partial.as_os_str(), image.as_ref()];
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

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn names() {
        for (image, expected) in [
            ("docker://a/b:c", "a-b-c.sif"),
            (" docker://python ", "python.sif"),
            ("docker://h:5000/../x", "h-5000-..-x.sif"),
        ] {
            assert_eq!(sif_name(image), expected);
        }
    }
}
