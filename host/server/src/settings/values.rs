//! Values of settings that serde does not check.

use std::time::Duration;

use serde::{Deserialize, de};

/// Reads a duration in seconds: more than 0, at most a day.
pub(crate) fn seconds<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero() && *time <= Duration::from_hours(24))
        .ok_or_else(|| {
            de::Error::custom(format!("invalid time {seconds}: expected seconds, more than 0 and at most a day"))
        })
}

/// Reads host names without a scheme or port, and converts them to lower case.
pub(super) fn host_names<'de, D: de::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let is_name = |name: &String| {
        let part = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        name.len() <= 253 && name.split('.').all(part)
    };
    match names.iter().find(|name| !is_name(name)) {
        Some(wrong) => Err(de::Error::custom(format!(
            "`{}` in `hosts` is not a host name: write it without scheme and port, as in `hooks.example.com`",
            hookbox::shorten(wrong, 80)
        ))),
        None => Ok(names.into_iter().map(|name| name.to_ascii_lowercase()).collect()),
    }
}
