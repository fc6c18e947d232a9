//! The SDKs, as this program brings them: `hookbox new` lays them into a project, `hookbox build` builds Python with its own.

/// Every source of every SDK: its language, its path, its text.
const SDKS: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/sdk.rs"));

/// The sources of one, by their paths in its folder in `sdk-guest/`.
pub fn sources(language: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    SDKS.iter().filter(move |(of, ..)| *of == language).map(|(_, path, text)| (*path, *text))
}
