//! The SDKs, as this program brings them: `hookbox new` lays them into a project, `hookbox build` builds Python with its own.

use std::sync::LazyLock;

use miniz_oxide::inflate::decompress_to_vec;

/// Every source of every SDK, deflated: its language, its path and its text, each with a NUL after it.
const DEFLATED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sdks"));

static SDKS: LazyLock<String> = LazyLock::new(|| {
    // Written when this program was built, of texts.
    decompress_to_vec(DEFLATED).ok().and_then(|sdks| String::from_utf8(sdks).ok()).unwrap_or_default()
});

/// The sources of one, by their paths in its folder in `sdk-guest/`.
pub fn sources(language: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut parts = SDKS.split_terminator('\0');
    let sources = std::iter::from_fn(move || Some((parts.next()?, parts.next()?, parts.next()?)));
    sources.filter(move |(of, ..)| *of == language).map(|(_, path, text)| (path, text))
}
