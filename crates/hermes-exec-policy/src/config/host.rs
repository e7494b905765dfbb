//! Whether a container reaches folders of the host.

/// Whether the source of a volume (`SOURCE:TARGET[:MODE]`) is a folder of the host, and not the name
/// of a volume.
#[must_use]
pub fn volume_is_host_folder(volume: &str) -> bool {
    let volume = volume.trim();
    super::cwd::has_drive(volume)
        || ["/", "./", "../", "~", ".:", "..:"].iter().any(|it| volume.starts_with(it))
}
