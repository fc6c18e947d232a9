//! The bounds of permissions: state, HTTP, language models, directories and environment variables.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use hookbox_sandbox::{
    DirectoryBounds, Permissions,
    permission::{HttpDetails, HttpGrant, LlmDetails, LlmGrant, StateDetails, StateGrant},
};
use url::Url;

use super::{Ceiling, Check};

/// The number of different directories that one configuration may be granted. Each one stays open.
const DIRECTORIES: usize = 64;

impl Ceiling {
    pub(super) fn check_permissions(&self, requested: &mut Permissions, pointer: &str, check: &mut Check<'_>) {
        let Permissions { state, http, llm, read, write, env, bounds } = requested;
        let ceiling = &self.permissions;
        if let Some(grant) = state {
            match ceiling.state.as_ref().and_then(StateGrant::details) {
                None => check.exceeds(&format!("{pointer}/state"), "", "state", "none"),
                Some(ceiling) => *grant = StateGrant::Detailed(bound_state(grant, &ceiling, pointer, check)),
            }
        }
        if let Some(grant) = llm {
            match ceiling.llm.as_ref().and_then(LlmGrant::details) {
                None => check.exceeds(&format!("{pointer}/llm"), "", "the language model", "none"),
                Some(ceiling) => *grant = LlmGrant::Detailed(bound_llm(grant, &ceiling, pointer, check)),
            }
        }
        for (index, grant) in http.iter_mut().enumerate() {
            let place = format!("{pointer}/http/{index}");
            let requested = grant.details();
            let within =
                ceiling.http.iter().map(HttpGrant::details).find_map(|ceiling| within(grant, &requested, &ceiling));
            match within {
                Some(details) => *grant = HttpGrant::Detailed(details),
                None => check.exceeds(&place, "", &exchange(&requested), &self.origins()),
            }
        }
        for (requested, ceiling, key) in
            [(&*read, [&ceiling.read, &ceiling.write], "read"), (&*write, [&ceiling.write, &ceiling.write], "write")]
        {
            for (guest, folder) in requested {
                check.directories.insert(folder.clone());
                if check.directories.len() > DIRECTORIES {
                    let place = format!("{pointer}/{key}/{}", hookbox_protocol::json::token(guest));
                    let most = format!("{DIRECTORIES} different directories");
                    check.exceeds(&place, "", "one more directory", &most);
                }
                if !ceiling.iter().flat_map(|ceiling| ceiling.values()).any(|ceiling| below(folder, ceiling)) {
                    let place = format!("{pointer}/{key}/{}", hookbox_protocol::json::token(guest));
                    let bounds: Vec<&str> =
                        ceiling.iter().flat_map(|ceiling| ceiling.values()).map(String::as_str).collect();
                    check.exceeds(&place, &format!("permission to {key}"), folder, &bounds.join(", "));
                }
            }
        }
        if !read.is_empty() || !write.is_empty() {
            let folders = |ceiling: &[&BTreeMap<String, String>]| -> Vec<PathBuf> {
                ceiling.iter().flat_map(|ceiling| ceiling.values()).map(PathBuf::from).collect()
            };
            *bounds = Some(DirectoryBounds {
                read: folders(&[&ceiling.read, &ceiling.write]),
                write: folders(&[&ceiling.write]),
            });
        }
        self.check_variables(env, &format!("{pointer}/env"), check);
    }

    pub(super) fn check_variables(&self, requested: &[String], pointer: &str, check: &mut Check<'_>) {
        let ceiling = &self.permissions.env;
        for (index, name) in requested.iter().enumerate().filter(|(_, name)| !ceiling.contains(name)) {
            check.exceeds(&format!("{pointer}/{index}"), "the environment variable", name, &ceiling.join(", "));
        }
    }

    pub(super) fn origins(&self) -> String {
        self.permissions.http.iter().map(|grant| exchange(&grant.details())).collect::<Vec<_>>().join(", ")
    }
}

fn bound_state(requested: &StateGrant, ceiling: &StateDetails, pointer: &str, check: &mut Check<'_>) -> StateDetails {
    let mut bound = requested.details().unwrap_or_default();
    let given = matches!(requested, StateGrant::Detailed(_));
    let mut cut = |key, requested, ceiling| check.cut(given, &format!("{pointer}/state"), key, requested, ceiling);
    cut("maxKeys", &mut bound.max_keys, ceiling.max_keys);
    cut("maxValueKiB", &mut bound.max_value_kib, ceiling.max_value_kib);
    bound
}

fn bound_llm(requested: &LlmGrant, ceiling: &LlmDetails, pointer: &str, check: &mut Check<'_>) -> LlmDetails {
    let mut bound = requested.details().unwrap_or_default();
    let given = matches!(requested, LlmGrant::Detailed(_));
    let mut cut = |key, requested, ceiling| check.cut(given, &format!("{pointer}/llm"), key, requested, ceiling);
    cut("maxCalls", &mut bound.max_calls, ceiling.max_calls);
    cut("maxTokens", &mut bound.max_tokens, ceiling.max_tokens);
    bound
}

/// A grant, bounded by one grant of the ceiling. `None` if it exceeds that grant. An origin alone sets no methods and
/// sizes, so its defaults are lowered to the ceiling's.
fn within(written: &HttpGrant, requested: &HttpDetails, ceiling: &HttpDetails) -> Option<HttpDetails> {
    if !covers(ceiling, &requested.origin) {
        return None;
    }
    if matches!(written, HttpGrant::Origin(_)) {
        let methods = requested.methods.iter().filter(|method| ceiling.methods.contains(method)).cloned().collect();
        return Some(HttpDetails {
            methods,
            max_body_kib: requested.max_body_kib.min(ceiling.max_body_kib),
            ..requested.clone()
        });
    }
    let fits = requested.methods.iter().all(|method| ceiling.methods.contains(method))
        && (!requested.private || ceiling.private)
        && requested.max_body_kib <= ceiling.max_body_kib;
    fits.then(|| requested.clone())
}

/// Returns true if the grant's origin is that of the URL.
pub(super) fn covers(grant: &HttpDetails, url: &str) -> bool {
    let parsed = |text: &str| Url::parse(text).ok().map(|url| url.origin()).filter(url::Origin::is_tuple);
    grant.origin == "*" || parsed(url).is_some_and(|origin| parsed(&grant.origin) == Some(origin))
}

pub(super) fn origin(url: &str) -> String {
    Url::parse(url).map_or_else(|_| "that URL".to_owned(), |url| url.origin().ascii_serialization())
}

fn exchange(grant: &HttpDetails) -> String {
    let private = if grant.private { ", private addresses" } else { "" };
    format!("{} {} (up to {} KiB{private})", grant.methods.join("/"), grant.origin, grant.max_body_kib)
}

/// Returns true if a folder is another folder or below it. Follows links, so that no link leads outside.
fn below(folder: &str, ceiling: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize().ok();
    real(folder).zip(real(ceiling)).is_some_and(|(folder, ceiling)| folder.starts_with(ceiling))
}
