//! File names that mean that a file holds no text.

/// Extensions of files that hold no text, in lower case.
const BINARY: &[&str] = &[
    // Video and audio.
    "mp4", "mov", "avi", "mkv", "webm", "wmv", "flv", "m4v", "mpeg", "mpg", //
    "mp3", "wav", "ogg", "flac", "aac", "m4a", "wma", "aiff", "opus", //
    // Archives and images of disks.
    "zip", "tar", "gz", "bz2", "7z", "rar", "xz", "z", "tgz", "iso", //
    // Programs and their parts.
    "exe", "dll", "so", "dylib", "bin", "o", "a", "obj", "lib", "app", "msi", "deb", "rpm", //
    // Documents.
    "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", //
    // Fonts.
    "ttf", "otf", "woff", "woff2", "eot", //
    // Byte code.
    "pyc", "pyo", "class", "jar", "war", "ear", "node", "wasm", "rlib", //
    // Data bases.
    "sqlite", "sqlite3", "db", "mdb", "idx", //
    // Design and 3D.
    "psd", "ai", "eps", "sketch", "fig", "xd", "blend", "3ds", "max", "swf", "fla", //
    // Others.
    "lockb", "dat", "data",
];

/// Extensions of images, which are binary too.
const IMAGES: &[&str] = &["png", "jpg", "jpeg", "gif", "bmp", "ico", "webp", "tiff", "tif"];

/// Whether the base name's extension is one of a file that holds no text.
#[must_use]
pub fn has_binary_extension(path: &str) -> bool {
    extension(path)
        .is_some_and(|ext| BINARY.contains(&ext.as_str()) || IMAGES.contains(&ext.as_str()))
}

/// Whether the extension is one of an image.
#[must_use]
pub fn has_image_extension(path: &str) -> bool {
    extension(path).is_some_and(|ext| IMAGES.contains(&ext.as_str()))
}

/// The text after the last dot of the base name, in lower case.
fn extension(path: &str) -> Option<String> {
    let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
    base.rsplit_once('.').map(|(_, ext)| ext.to_ascii_lowercase())
}
