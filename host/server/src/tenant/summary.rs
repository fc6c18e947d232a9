//! Reads a tenant's file leniently: its tokens and its `failClosed`, even if the file is invalid.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use hookbox::config;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::TenantFile;
use crate::{
    files::{FilePath, MAX_SETTINGS_BYTES, Stamp},
    token::{Token, Tokens},
};

/// The readable content of a tenant's file.
#[derive(Debug)]
pub struct FileSummary {
    /// The stamp of the file from before it was read.
    pub stamp: Stamp,
    /// The whole file, or the error. The error quotes the file, so it is only for the operator.
    pub file: Result<Arc<TenantFile>, String>,
    /// Its tokens.
    pub tokens: FileTokens,
    /// True if failures block. `None` if that cannot be read.
    pub closed: Option<bool>,
    /// The hooks files that it names, as written.
    pub hooks: Vec<String>,
    /// True if it contains `tokens`, which only a tenant's file has.
    pub has_tokens: bool,
    /// True if it is a hooks file, not an invalid tenant's file: it has no `tokens`, and its `hooks` are not paths.
    pub is_hooks_file: bool,
}

/// The tokens of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum FileTokens {
    /// All of them.
    All(Tokens),
    /// The valid ones. Others are invalid, and may be any earlier token.
    Some(Tokens),
    /// The hashes found in the text. There is no readable list of tokens.
    Text(Tokens),
}

/// The parts of a tenant's file that are read separately.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts {
    tokens: Option<Value>,
    #[serde(default)]
    hooks: Value,
}

impl FileSummary {
    /// Reads a file. `stamp` was taken before.
    pub fn at(path: &Path, stamp: Stamp) -> Self {
        let bytes = match FilePath::anywhere(path).read(MAX_SETTINGS_BYTES) {
            Ok(bytes) => bytes,
            Err(error) => {
                let why = format!("{}: cannot be read: {error}", path.display());
                let (tokens, hooks) = (FileTokens::Text(Vec::new()), Vec::new());
                return Self {
                    stamp,
                    file: Err(why),
                    tokens,
                    closed: None,
                    hooks,
                    has_tokens: false,
                    is_hooks_file: false,
                };
            }
        };
        let wrong = |error: serde_json::Error| format!("{}: {error}", path.display());
        match serde_json::from_slice::<TenantFile>(&bytes) {
            Ok(file) => Self {
                stamp,
                tokens: FileTokens::All(file.tokens.clone()),
                closed: Some(file.fail_closed),
                hooks: file.hooks.values().map(|file| file.to_string_lossy().into_owned()).collect(),
                has_tokens: true,
                is_hooks_file: false,
                file: Ok(Arc::new(file)),
            },
            Err(error) => {
                let closed = config::hints(&bytes).fail_closed.then_some(true);
                let file = Err(wrong(error));
                let Ok(Parts { tokens, hooks }) = serde_json::from_slice::<Parts>(&bytes) else {
                    let text = String::from_utf8_lossy(&bytes);
                    let (tokens, has_tokens) = (FileTokens::Text(hashes(&text)), text.contains("\"tokens\""));
                    return Self { stamp, file, tokens, closed, hooks: Vec::new(), has_tokens, is_hooks_file: false };
                };
                let has_tokens = tokens.is_some();
                let is_path = |value: &Value| value.is_string();
                let are_paths = |hooks: &Map<String, Value>| !hooks.is_empty() && hooks.values().all(is_path);
                let is_hooks_file = !has_tokens && hooks.as_object().is_some_and(|hooks| !are_paths(hooks));
                let (tokens, hooks) = (file_tokens(tokens.as_ref(), &bytes), paths(hooks));
                Self { stamp, file, tokens, closed, hooks, has_tokens, is_hooks_file }
            }
        }
    }
}

fn file_tokens(tokens: Option<&Value>, bytes: &[u8]) -> FileTokens {
    let Some(Value::Array(entries)) = tokens else {
        return FileTokens::Text(hashes(&String::from_utf8_lossy(bytes)));
    };
    let read: Tokens = entries.iter().filter_map(|entry| Token::deserialize(entry).ok()).collect();
    if read.len() == entries.len() { FileTokens::All(read) } else { FileTokens::Some(read) }
}

fn paths(hooks: Value) -> Vec<String> {
    let hooks = serde_json::from_value::<BTreeMap<String, Value>>(hooks).unwrap_or_default();
    hooks.into_values().filter_map(|path| Some(path.as_str()?.to_owned())).collect()
}

/// Finds hashes of tokens in a text.
fn hashes(text: &str) -> Tokens {
    let parts = text.split("sha256:").skip(1);
    let hash = |part: &str| Some(Value::from(format!("sha256:{}", part.get(..64)?)));
    parts.filter_map(|part| Token::deserialize(hash(part)?).ok()).take(MOST).collect()
}

/// The maximum number of hashes to find in a text.
const MOST: usize = 64;
