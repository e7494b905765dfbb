//! Devices, and what names and headers tell of a file's content.

use std::path::Path;

use pretty_assertions::assert_eq;

use super::super::{binary, devices, read};

#[test]
fn devices_and_process_secrets() {
    for (path, expected) in [
        ("/dev/zero", true),
        ("/dev/random", true),
        ("/dev/urandom", true),
        ("/dev/full", true),
        ("/dev/stdin", true),
        ("/dev/stdout", true),
        ("/dev/stderr", true),
        ("/dev/tty", true),
        ("/dev/console", true),
        ("/dev/./zero", true),
        ("//dev//zero/", true),
        ("/tmp/../dev/tty", true),
        ("/dev/fd/0", true),
        ("/dev/fd/3", false),
        ("/dev/null", false),
        ("/dev/zero/x", false),
        ("dev/zero", false),
        ("/proc/self/environ", true),
        ("/proc/self/root/dev/zero", true),
        ("/proc/12/task/13/root/proc/1/mem", true),
        ("/proc/12/task/13/maps", true),
        ("/proc/12/smaps_rollup", true),
        ("/proc/12/numa_maps", true),
        ("/proc/12/auxv", true),
        ("/proc/12/pagemap", true),
        ("/proc/12/cmdline", true),
        ("/proc/thread-self/smaps", true),
        ("/proc/self/fd/1", true),
        ("/proc/self/fd/7", false),
        ("/proc/fd/1", false),
        ("/proc/kmsg", true),
        ("/proc/../proc/kcore", true),
        ("/dev/kmsg", true),
        ("/sys/kernel/debug/tracing/trace_pipe", true),
        ("/sys/kernel/tracing/per_cpu/cpu0/trace_pipe_raw", true),
        ("/sys/kernel/tracing/trace", false),
        ("/home/u/trace_pipe", false),
        ("/proc/self/kmsg", false),
        ("/proc/cpuinfo", false),
        ("/proc/cmdline", false),
        ("/proc/self/status", false),
        ("/home/u/dev/zero", false),
        ("", false),
    ] {
        assert_eq!(devices::is_blocked(Path::new(path)), expected, "{path}");
    }
}

#[test]
fn binary_extensions() {
    let listed = "png jpg jpeg gif bmp ico webp tiff tif mp4 mov avi mkv webm wmv flv m4v mpeg mpg \
        mp3 wav ogg flac aac m4a wma aiff opus zip tar gz bz2 7z rar xz z tgz iso exe dll so dylib \
        bin o a obj lib app msi deb rpm doc docx xls xlsx ppt pptx odt ods odp ttf otf woff woff2 \
        eot pyc pyo class jar war ear node wasm rlib sqlite sqlite3 db mdb idx psd ai eps sketch \
        fig xd blend 3ds max swf fla lockb dat data";
    for extension in listed.split_ascii_whitespace() {
        assert!(binary::has_binary_extension(&format!("a/b.{extension}")), "{extension}");
        assert!(binary::has_binary_extension(&extension.to_uppercase().replacen("", ".", 1)));
    }
    for (path, expected) in [
        ("a/b.PNG", true),
        ("x.pdf", false),
        ("x.svg", false),
        ("archive.tar.gz", true),
        ("a.b/c", false),
        ("a.png/c", false),
        ("a.png\\c", false),
        ("lib.so.6", false),
        (".png", true),
        ("png", false),
        ("x.", false),
        ("x.png ", false),
        ("", false),
    ] {
        assert_eq!(binary::has_binary_extension(path), expected, "{path}");
    }
    assert!(binary::has_image_extension("x.JPG") && !binary::has_image_extension("x.zip"));
}

#[test]
fn private_keys_are_told_by_their_header() {
    for (text, expected) in [
        ("-----BEGIN PRIVATE KEY-----\nx", true),
        ("-----BEGIN CERTIFICATE-----\nx\n  -----BEGIN RSA PRIVATE KEY----- \r\n", true),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", true),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----", true),
        ("-----BEGIN PUBLIC KEY-----", false),
        ("-----BEGIN CERTIFICATE-----", false),
        ("PRIVATE KEY", false),
        ("", false),
    ] {
        assert_eq!(read::holds_private_key(text.as_bytes()), expected, "{text}");
    }
    assert!(read::may_hold_private_key(Path::new("a/B.PEM")));
    assert!(!read::may_hold_private_key(Path::new("a/pem")));
}
