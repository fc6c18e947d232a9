//! The embedded SDKs: `hookbox new` copies them into projects, and `hookbox build` uses the one for Python.

use std::sync::LazyLock;

use miniz_oxide::inflate::decompress_to_vec;

/// All sources of all SDKs, compressed: the language, path and text of each, followed by a NUL.
const DEFLATED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sdks"));

static SDKS: LazyLock<String> = LazyLock::new(|| {
    // The data was created by the build script, so it is valid.
    decompress_to_vec(DEFLATED).ok().and_then(|sdks| String::from_utf8(sdks).ok()).unwrap_or_default()
});

/// The sources of one SDK, by their paths in its folder in `sdk-guest/`.
pub fn sources(language: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut parts = SDKS.split_terminator('\0');
    let sources = std::iter::from_fn(move || Some((parts.next()?, parts.next()?, parts.next()?)));
    sources.filter(move |(of, ..)| *of == language).map(|(_, path, text)| (path, text))
}
