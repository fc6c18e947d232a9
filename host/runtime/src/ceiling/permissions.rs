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
    pub(super) fn check_permissions(&self, asked: &mut Permissions, pointer: &str, check: &mut Check<'_>) {
        let Permissions { state, http, llm, read, write, env, bounds } = asked;
        let most = &self.permissions;
        if let Some(grant) = state {
            match most.state.as_ref().and_then(StateGrant::details) {
                None => check.exceeds(&format!("{pointer}/state"), "", "state", "none"),
                Some(most) => *grant = StateGrant::Detailed(bound_state(grant, &most, pointer, check)),
            }
        }
        if let Some(grant) = llm {
            match most.llm.as_ref().and_then(LlmGrant::details) {
                None => check.exceeds(&format!("{pointer}/llm"), "", "the language model", "none"),
                Some(most) => *grant = LlmGrant::Detailed(bound_llm(grant, &most, pointer, check)),
            }
        }
        for (index, grant) in http.iter_mut().enumerate() {
            let place = format!("{pointer}/http/{index}");
            let asked = grant.details();
            let within = most.http.iter().map(HttpGrant::details).find_map(|most| within(grant, &asked, &most));
            match within {
                Some(details) => *grant = HttpGrant::Detailed(details),
                None => check.exceeds(&place, "", &exchange(&asked), &self.origins()),
            }
        }
        for (asked, most, key) in
            [(&*read, [&most.read, &most.write], "read"), (&*write, [&most.write, &most.write], "write")]
        {
            for (guest, folder) in asked {
                check.directories.insert(folder.clone());
                if check.directories.len() > DIRECTORIES {
                    let place = format!("{pointer}/{key}/{}", hookbox_protocol::json::token(guest));
                    check.exceeds(&place, "", "one more directory", &format!("{DIRECTORIES} different ones"));
                }
                if !most.iter().flat_map(|most| most.values()).any(|most| below(folder, most)) {
                    let place = format!("{pointer}/{key}/{}", hookbox_protocol::json::token(guest));
                    let bounds: Vec<&str> = most.iter().flat_map(|most| most.values()).map(String::as_str).collect();
                    check.exceeds(&place, &format!("to {key}"), folder, &bounds.join(", "));
                }
            }
        }
        if !read.is_empty() || !write.is_empty() {
            let folders = |most: &[&BTreeMap<String, String>]| -> Vec<PathBuf> {
                most.iter().flat_map(|most| most.values()).map(PathBuf::from).collect()
            };
            *bounds =
                Some(DirectoryBounds { read: folders(&[&most.read, &most.write]), write: folders(&[&most.write]) });
        }
        self.check_variables(env, &format!("{pointer}/env"), check);
    }

    pub(super) fn check_variables(&self, asked: &[String], pointer: &str, check: &mut Check<'_>) {
        let most = &self.permissions.env;
        for (index, name) in asked.iter().enumerate().filter(|(_, name)| !most.contains(name)) {
            check.exceeds(&format!("{pointer}/{index}"), "the environment variable", name, &most.join(", "));
        }
    }

    pub(super) fn origins(&self) -> String {
        self.permissions.http.iter().map(|grant| exchange(&grant.details())).collect::<Vec<_>>().join(", ")
    }
}

fn bound_state(asked: &StateGrant, most: &StateDetails, pointer: &str, check: &mut Check<'_>) -> StateDetails {
    let mut bound = asked.details().unwrap_or_default();
    let given = matches!(asked, StateGrant::Detailed(_));
    let mut cut = |key, asked, most| check.cut(given, &format!("{pointer}/state"), key, asked, most);
    cut("maxKeys", &mut bound.max_keys, most.max_keys);
    cut("maxValueKiB", &mut bound.max_value_kib, most.max_value_kib);
    bound
}

fn bound_llm(asked: &LlmGrant, most: &LlmDetails, pointer: &str, check: &mut Check<'_>) -> LlmDetails {
    let mut bound = asked.details().unwrap_or_default();
    let given = matches!(asked, LlmGrant::Detailed(_));
    let mut cut = |key, asked, most| check.cut(given, &format!("{pointer}/llm"), key, asked, most);
    cut("maxCalls", &mut bound.max_calls, most.max_calls);
    cut("maxTokens", &mut bound.max_tokens, most.max_tokens);
    bound
}

/// A grant, bounded by one grant of the ceiling. `None` if it exceeds that grant. An origin alone sets no methods and
/// sizes, so its defaults are lowered to the ceiling's.
fn within(written: &HttpGrant, asked: &HttpDetails, most: &HttpDetails) -> Option<HttpDetails> {
    if !covers(most, &asked.origin) {
        return None;
    }
    if matches!(written, HttpGrant::Origin(_)) {
        let methods = asked.methods.iter().filter(|method| most.methods.contains(method)).cloned().collect();
        return Some(HttpDetails { methods, max_body_kib: asked.max_body_kib.min(most.max_body_kib), ..asked.clone() });
    }
    let fits = asked.methods.iter().all(|method| most.methods.contains(method))
        && (!asked.private || most.private)
        && asked.max_body_kib <= most.max_body_kib;
    fits.then(|| asked.clone())
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
fn below(folder: &str, most: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize().ok();
    real(folder).zip(real(most)).is_some_and(|(folder, most)| folder.starts_with(most))
}
