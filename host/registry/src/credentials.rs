//! Credentials in the form of Docker: its configuration and its helpers.

use std::{
    collections::HashMap,
    env, fmt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use hookbox::{async_trait, private::open_regular};
use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

use crate::error::RegistryError;

/// The timeout of a helper.
const HELPER: Duration = Duration::from_secs(20);
/// The maximum size of Docker's configuration, and of the output of a helper, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The user name that marks an identity token.
const IDENTITY: &str = "<token>";

/// A user name and its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// The user's name.
    pub user: String,
    /// The password or the token.
    pub secret: String,
}

impl Credential {
    /// Returns true if the secret is an identity token, which is exchanged for access tokens.
    pub(crate) fn is_identity_token(&self) -> bool {
        self.user == IDENTITY
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Finds credentials of registries.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// The credential for a registry, by its host as in references. `None`: requests are sent without a credential.
    ///
    /// # Errors
    /// [`RegistryError::Credentials`]: it exists, but cannot be read.
    async fn of(&self, registry: &str) -> Result<Option<Credential>, RegistryError>;
}

/// No credentials.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCredentials;

#[async_trait]
impl Credentials for NoCredentials {
    async fn of(&self, _: &str) -> Result<Option<Credential>, RegistryError> {
        Ok(None)
    }
}

/// The credentials of Docker's configuration: `$DOCKER_CONFIG/config.json`, or `~/.docker/config.json`.
#[derive(Debug, Clone)]
pub struct DockerCredentials {
    file: Option<PathBuf>,
}

/// Credentials from a text in the form of Docker's configuration. A text that names a helper is refused, because helpers are
/// programs and would run with the rights of this process.
#[derive(Clone)]
pub struct WrittenCredentials(Arc<Configuration>);

impl WrittenCredentials {
    /// Parses the text.
    ///
    /// # Errors
    /// A description of the error.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let config: Configuration = serde_json::from_slice(text)
            // The error itself may quote a secret.
            .map_err(|error| format!("invalid at line {} column {}", error.line(), error.column()))?;
        if config.creds_store.is_some() || !config.cred_helpers.is_empty() {
            return Err("`credsStore` and `credHelpers` are not supported here; write `auths`".into());
        }
        Ok(Self(Arc::new(config)))
    }
}

#[async_trait]
impl Credentials for WrittenCredentials {
    async fn of(&self, registry: &str) -> Result<Option<Credential>, RegistryError> {
        let wrong = |why| RegistryError::Credentials { host: registry.to_owned(), why };
        self.0.written(registry).map_err(wrong)
    }
}

/// The part of Docker's configuration with credentials.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Configuration {
    auths: HashMap<String, Entry>,
    cred_helpers: HashMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    auth: Option<String>,
    identitytoken: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

impl DockerCredentials {
    /// The credentials of this user.
    pub fn of_user() -> Self {
        let named = env::var_os("DOCKER_CONFIG").map(PathBuf::from);
        let folder = named.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".docker")));
        Self { file: folder.map(|folder| folder.join("config.json")) }
    }

    /// The credentials in a file in the form of Docker's configuration.
    pub fn at(file: impl Into<PathBuf>) -> Self {
        Self { file: Some(file.into()) }
    }
}

#[async_trait]
impl Credentials for DockerCredentials {
    async fn of(&self, registry: &str) -> Result<Option<Credential>, RegistryError> {
        let Some(file) = &self.file else { return Ok(None) };
        let wrong = |why: String| RegistryError::Credentials { host: registry.to_owned(), why };
        let found = read(file).map_err(|why| wrong(format!("{}: {why}", file.display())))?;
        let Some(config) = found else { return Ok(None) };
        let names = names(registry);
        let helper = names.iter().find_map(|name| config.cred_helpers.get(name)).or(config.creds_store.as_ref());
        if let Some(helper) = helper {
            for name in &names {
                if let Some(credential) = ask(helper, name).await.map_err(wrong)? {
                    return Ok(Some(credential));
                }
            }
        }
        config.written(registry).map_err(|why| wrong(format!("{}: {why}", file.display())))
    }
}

impl Configuration {
    /// The credential in `auths`.
    fn written(&self, registry: &str) -> Result<Option<Credential>, String> {
        let entry = names(registry).iter().find_map(|name| self.auths.get(name));
        entry.map_or(Ok(None), Entry::credential)
    }
}

impl Entry {
    fn credential(&self) -> Result<Option<Credential>, String> {
        if let Some(token) = self.identitytoken.as_ref().filter(|token| !token.is_empty()) {
            return Ok(Some(Credential { user: IDENTITY.into(), secret: token.clone() }));
        }
        let Some(auth) = self.auth.as_ref().filter(|auth| !auth.is_empty()) else { return Ok(None) };
        let text = BASE64_STANDARD.decode(auth).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let pair = text.as_deref().and_then(|text| text.split_once(':'));
        let (user, secret) = pair.ok_or("`auth` is not a name and a password in Base64")?;
        Ok(Some(Credential { user: user.into(), secret: secret.trim_end_matches('\0').into() }))
    }
}

/// The names under which Docker stores the credentials of a registry.
fn names(registry: &str) -> Vec<String> {
    let mut names = vec![registry.to_owned(), format!("https://{registry}"), format!("https://{registry}/v2/")];
    if registry == "docker.io" {
        names.insert(0, "https://index.docker.io/v1/".into());
    }
    names
}

fn read(file: &Path) -> Result<Option<Configuration>, String> {
    use std::io::Read;

    let open = match open_regular(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| error.to_string())?,
    };
    let mut bytes = Vec::new();
    open.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| error.to_string())
}

/// Calls a helper as Docker does: the registry's name on its stdin, JSON on its stdout.
async fn ask(helper: &str, name: &str) -> Result<Option<Credential>, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if helper.is_empty() || !helper.bytes().all(plain) {
        return Err(format!("`{}` is not the name of a helper", hookbox::shorten(helper, 40)));
    }
    let program = format!("docker-credential-{helper}");
    let mut child = Command::new(&program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("{program} cannot be started: {error}"))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let exchange = async {
        if let Some(mut stdin) = stdin {
            stdin.write_all(name.as_bytes()).await?;
        }
        let mut output = Vec::new();
        if let Some(stdout) = stdout {
            stdout.take(MAX_BYTES).read_to_end(&mut output).await?;
        }
        Ok::<_, std::io::Error>((child.wait().await?, output))
    };
    let (status, output) = tokio::time::timeout(HELPER, exchange)
        .await
        .map_err(|_| format!("{program} did not finish within {} s", HELPER.as_secs()))?
        .map_err(|error| format!("{program}: {error}"))?;
    if !status.success() {
        let printed = String::from_utf8_lossy(&output);
        // "credentials not found in native keychain", in the words of docker-credential-helpers.
        if printed.contains("credentials not found") || printed.trim().is_empty() {
            return Ok(None);
        }
        return Err(format!("{program} exited with {status}"));
    }
    let answer: Answer =
        serde_json::from_slice(&output).map_err(|_| format!("{program} did not print a credential"))?;
    Ok(Some(Credential { user: answer.username, secret: answer.secret }))
}
