//! A registry that lies, floods, stalls and leads elsewhere. Each case is one thing that it does and the one error that comes of
//! it, in bounded time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use hookbox::{artifact::Reference, capability::http::ReqwestClient, sha256};
use hookbox_registry::{
    ARTIFACT_CONFIG, Bounds, COMPONENT_LAYER, Credential, Credentials, DockerCredentials, Hosts, Mode, NoCredentials,
    Policy, PolicyError, Publishers, Registry, RegistryError, Signer, SigningKey,
};
use hookbox_testing::server::{Server, response};
use serde_json::{Value, json};

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const COMPONENT: &str = "the bytes of a component";

fn digest(text: &str) -> String {
    format!("sha256:{}", sha256(text))
}

fn manifest() -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": IMAGE,
        "config": { "mediaType": ARTIFACT_CONFIG, "digest": digest("{}"), "size": 2 },
        "layers": [{ "mediaType": COMPONENT_LAYER, "digest": digest(COMPONENT), "size": COMPONENT.len() }],
    })
}

fn sent(media_type: &str, body: &str) -> String {
    response("200 OK", &format!("content-type: {media_type}\r\n"), body)
}

fn image(manifest: &Value) -> String {
    sent(IMAGE, &manifest.to_string())
}

fn redirect(to: &str) -> String {
    response("307 Temporary Redirect", &format!("location: {to}\r\n"), "")
}

/// Sends the parts of an honest artifact, but for what the case does.
fn honest(request: &str) -> String {
    if request.contains("/manifests/") { image(&manifest()) } else { sent("application/octet-stream", COMPONENT) }
}

fn registry(port: u16) -> Registry {
    let hosts = Hosts::public().vouched(&format!("127.0.0.1:{port}"));
    let bounds = Bounds { manifest: 64 << 10, component: 1 << 20, time: Duration::from_secs(5), redirects: 3 };
    Registry::new(ReqwestClient::default(), hosts, NoCredentials).bounds(bounds)
}

fn reference(port: u16) -> Reference {
    Reference::parse(&format!("oci://127.0.0.1:{port}/acme/guard:1")).unwrap()
}

/// Pulls, and returns the result and the requests.
async fn pull(
    answer: impl Fn(&str) -> String + Send + Sync + 'static,
) -> (Result<Vec<u8>, RegistryError>, Vec<String>) {
    let server = Server::start(answer).await;
    let began = Instant::now();
    let pulled = registry(server.port).pull(&reference(server.port)).await.map(|pulled| pulled.component);
    assert!(began.elapsed() < Duration::from_secs(20), "{pulled:?}");
    (pulled, server.requests())
}

#[tokio::test]
async fn a_correct_registry_works() {
    let (pulled, requests) = pull(honest).await;
    assert_eq!(pulled.unwrap(), COMPONENT.as_bytes());
    assert_eq!(requests.len(), 2);
}

type Case = (&'static str, Box<dyn Fn(&str) -> String + Send + Sync>, fn(&RegistryError) -> bool);

fn with(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Box<dyn Fn(&str) -> String + Send + Sync> {
    Box::new(move |request| {
        if !request.contains("/manifests/") {
            return honest(request);
        }
        let mut manifest = manifest();
        change(&mut manifest);
        image(&manifest)
    })
}

fn blob(body: String) -> Box<dyn Fn(&str) -> String + Send + Sync> {
    Box::new(move |request| if request.contains("/blobs/") { body.clone() } else { honest(request) })
}

fn any(body: impl Into<String>) -> Box<dyn Fn(&str) -> String + Send + Sync> {
    let body = body.into();
    Box::new(move |_| body.clone())
}

fn lies() -> Vec<Case> {
    use RegistryError as E;
    let index = |entry: Value| json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [entry] }).to_string();
    let wasm = |media: &str, digest: &str, size: usize| json!({ "mediaType": media, "digest": digest, "size": size, "platform": { "architecture": "wasm" } });
    let other = index(wasm(IMAGE, &digest("another"), 7));
    vec![
        ("other bytes", blob(sent("x/y", "the bytes of another one")), |e| matches!(e, E::Digest { .. })),
        ("fewer bytes", blob(sent("x/y", "the bytes")), |e| matches!(e, E::Digest { .. })),
        ("a size that is too small", with(|m| m["layers"][0]["size"] = 5.into()), |e| matches!(e, E::TooLarge { .. })),
        ("a size that is too large", with(|m| m["layers"][0]["size"] = 5000.into()), |e| matches!(e, E::Digest { .. })),
        (
            "an index that leads to other bytes",
            Box::new(move |r| if r.contains("manifests/1 ") { sent(INDEX, &other) } else { image(&manifest()) }),
            |e| matches!(e, E::Digest { .. }),
        ),
        ("an index that leads to an index", any(sent(INDEX, &index(wasm(INDEX, &digest("x"), 1)))), |e| {
            matches!(e, E::Artifact { .. })
        }),
        ("an index of nothing", any(sent(INDEX, r#"{"schemaVersion":2,"manifests":[]}"#)), |e| {
            matches!(e, E::Artifact { .. })
        }),
        ("an index that is an image too", any(sent(INDEX, r#"{"schemaVersion":2,"manifests":[],"layers":[]}"#)), |e| {
            matches!(e, E::Artifact { .. })
        }),
        ("an image that is sent as an index", any(sent(INDEX, &manifest().to_string())), |e| {
            matches!(e, E::Artifact { .. })
        }),
        ("another media type", any(sent("text/html", &manifest().to_string())), |e| matches!(e, E::Artifact { .. })),
        ("a container", with(|m| m["config"]["mediaType"] = "application/vnd.oci.image.config.v1+json".into()), |e| {
            matches!(e, E::Artifact { .. })
        }),
        ("another kind of layer", with(|m| m["layers"][0]["mediaType"] = "application/gzip".into()), |e| {
            matches!(e, E::Artifact { .. })
        }),
        (
            "two layers",
            with(|m| {
                let layer = m["layers"][0].clone();
                m["layers"].as_array_mut().unwrap().push(layer);
            }),
            |e| matches!(e, E::Artifact { .. }),
        ),
        ("no layer", with(|m| m["layers"] = json!([])), |e| matches!(e, E::Artifact { .. })),
        ("a digest that is a path", with(|m| m["layers"][0]["digest"] = "sha256:../../x".into()), |e| {
            matches!(e, E::Artifact { .. })
        }),
        ("another kind of digest", with(|m| m["layers"][0]["digest"] = "md5:00".into()), |e| {
            matches!(e, E::Artifact { .. })
        }),
        ("a schema of the future", with(|m| m["schemaVersion"] = 3.into()), |e| matches!(e, E::Artifact { .. })),
        ("a negative size", with(|m| m["layers"][0]["size"] = json!(-1)), |e| matches!(e, E::Artifact { .. })),
        ("a size beyond 64 bits", with(|m| m["layers"][0]["size"] = json!(1e30)), |e| matches!(e, E::Artifact { .. })),
        ("a digest in upper case", with(|m| m["layers"][0]["digest"] = digest(COMPONENT).to_uppercase().into()), |e| {
            matches!(e, E::Artifact { .. })
        }),
        (
            "a layer that is named twice",
            any(sent(IMAGE, &manifest().to_string().replacen("\"layers\":", "\"layers\":[],\"layers\":", 1))),
            |e| matches!(e, E::Artifact { .. }),
        ),
        (
            "an index with two components",
            any(sent(
                INDEX,
                &json!({ "schemaVersion": 2, "manifests": [
                wasm(IMAGE, &digest("a"), 1), wasm(IMAGE, &digest("b"), 1) ] })
                .to_string(),
            )),
            |e| matches!(e, E::Artifact { .. }),
        ),
        ("an index that leads to itself", any(sent(INDEX, &index(wasm(IMAGE, &digest("x"), 1)))), |e| {
            matches!(e, E::Digest { .. })
        }),
        ("an index whose digest is a path", any(sent(INDEX, &index(wasm(IMAGE, "sha256:../x", 1)))), |e| {
            matches!(e, E::Artifact { .. } | E::Digest { .. })
        }),
        ("no JSON", any(sent(IMAGE, "<html>")), |e| matches!(e, E::Artifact { .. })),
        ("JSON in JSON", any(sent(IMAGE, &"[".repeat(60_000))), |e| matches!(e, E::Artifact { .. })),
    ]
}

fn floods() -> Vec<Case> {
    use RegistryError as E;
    let endless = |media: &str, bytes: usize| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: {media}\r\nconnection: close\r\n\r\n{}…", " ".repeat(bytes))
    };
    let announced = "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n…";
    vec![
        ("an endless manifest", any(endless(IMAGE, 200 << 10)), |e| matches!(e, E::TooLarge { .. })),
        ("an endless component", blob(endless("x/y", 200 << 10)), |e| matches!(e, E::TooLarge { .. })),
        ("a manifest of a terabyte", any(announced), |e| matches!(e, E::TooLarge { .. })),
        ("a component of a terabyte", blob(announced.into()), |e| matches!(e, E::TooLarge { .. })),
        ("a layer of a terabyte", with(|m| m["layers"][0]["size"] = 1_000_000_000_000_u64.into()), |e| {
            matches!(e, E::TooLarge { .. })
        }),
        (
            "many entries",
            any(sent(INDEX, &format!(r#"{{"schemaVersion":2,"manifests":[{}0]}}"#, "0,".repeat(20_000)))),
            |e| matches!(e, E::Artifact { .. }),
        ),
        ("a manifest that never ends", any(format!("{}…", &honest("/manifests/")[..150])), |e| {
            matches!(e, E::Time { .. })
        }),
        ("no answer", any("…"), |e| matches!(e, E::Time { .. })),
        (
            "bytes in many chunks without an end",
            blob(format!(
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}…",
                "400\r\n".to_owned() + &" ".repeat(1024) + "\r\n"
            )),
            |e| matches!(e, E::TooLarge { .. } | E::Time { .. }),
        ),
        ("a header without an end", any(format!("HTTP/1.1 200 OK\r\nx: {}…", "x".repeat(300 << 10))), |e| {
            matches!(e, E::Connection { .. } | E::Time { .. })
        }),
        (
            "compressed bytes that nobody asked for",
            blob(response("200 OK", "content-encoding: gzip\r\n", "\u{1f}")),
            |e| matches!(e, E::Digest { .. } | E::Connection { .. }),
        ),
        ("too busy", any(response("429 Too Many Requests", "retry-after: 0\r\n", "")), |e| matches!(e, E::Busy { .. })),
        ("too busy for an hour", any(response("429 Too Many Requests", "retry-after: 3600\r\n", "")), |e| {
            matches!(e, E::Busy { .. })
        }),
    ]
}

fn elsewhere() -> Vec<Case> {
    use RegistryError as E;
    let host: fn(&E) -> bool = |e| matches!(e, E::Host { .. });
    vec![
        ("to another port of this machine", any(redirect("http://127.0.0.1:1/v2/")), host),
        ("to this machine by its name", blob(redirect("http://localhost:1/x")), host),
        ("to a cloud's metadata", blob(redirect("http://169.254.169.254/latest/meta-data")), host),
        ("to it with TLS", blob(redirect("https://169.254.169.254/latest/meta-data")), host),
        ("to a private network", blob(redirect("https://10.0.0.1/x")), host),
        ("to an address in disguise", blob(redirect("https://[::ffff:127.0.0.1]/x")), host),
        ("to a file", blob(redirect("file:///etc/passwd")), host),
        ("to an address as a number", blob(redirect("https://2130706433/x")), host),
        ("to an address in octal", blob(redirect("https://0177.0.0.1/x")), host),
        ("to a local name with a dot", blob(redirect("http://localhost./x")), host),
        ("to the unspecified address", blob(redirect("https://0.0.0.0/x")), host),
        ("to a link-local address", blob(redirect("https://[fe80::1]/x")), host),
        ("to an address behind a translator", blob(redirect("https://[64:ff9b::7f00:1]/x")), host),
        ("with a password", blob(redirect("https://user:password@10.0.0.1/x")), host),
        ("to nothing", blob(redirect("")), |e| {
            matches!(e, E::Redirects { .. } | E::Connection { .. } | E::Host { .. })
        }),
        ("in a circle", blob(redirect("?again")), |e| matches!(e, E::Redirects { limit: 3, .. })),
        (
            "for a token, to a private network",
            any(response("401 Unauthorized", "www-authenticate: Bearer realm=\"http://10.0.0.1/token\"\r\n", "")),
            host,
        ),
        (
            "for a token, nowhere",
            any(response("401 Unauthorized", "www-authenticate: Bearer realm=\"x\"\r\n", "")),
            |e| matches!(e, E::Refused { .. }),
        ),
        ("no challenge", any(response("401 Unauthorized", "", "")), |e| matches!(e, E::Refused { .. })),
        ("forbidden", any(response("403 Forbidden", "", "")), |e| matches!(e, E::Refused { .. })),
        ("broken", any(response("500 Internal Server Error", "", "")), |e| matches!(e, E::Status { status: 500, .. })),
        ("gone", any(response("404 Not Found", "", "")), |e| matches!(e, E::NotFound { .. })),
        ("no HTTP", any("SSH-2.0-OpenSSH\r\n"), |e| matches!(e, E::Connection { .. })),
        ("no more than a head", any("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n"), |e| {
            matches!(e, E::Connection { .. })
        }),
    ]
}

#[tokio::test]
async fn each_wrong_response_has_its_error() {
    for (name, answer, expected) in lies().into_iter().chain(floods()).chain(elsewhere()) {
        let (pulled, _) = pull(answer).await;
        let error = pulled.expect_err(name);
        assert!(expected(&error), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn a_layer_that_is_too_large_is_not_requested() {
    let (_, requests) = pull(with(|m| m["layers"][0]["size"] = 1_000_000_000_000_u64.into())).await;
    assert_eq!(requests.len(), 1, "{requests:?}");
}

#[tokio::test]
async fn a_manifest_of_another_digest_is_refused() {
    let server = Server::start(honest).await;
    let wanted = reference(server.port).at(&digest("another manifest"));
    let error = registry(server.port).pull(&wanted).await.unwrap_err();
    assert!(error.is_forgery(), "{error}");
    let wanted = reference(server.port).at(&digest(&manifest().to_string()));
    registry(server.port).pull(&wanted).await.unwrap();
}

#[tokio::test]
async fn a_moving_tag_is_resolved_once() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (pulled, _) = pull(move |request| {
        if request.contains("/manifests/1 ") && count.fetch_add(1, Ordering::Relaxed) > 0 {
            return response("500 Internal Server Error", "", "");
        }
        honest(request)
    })
    .await;
    pulled.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn requests_to_a_busy_registry_are_retried() {
    let asked = AtomicUsize::new(0);
    let (pulled, _) = pull(move |request| {
        if asked.fetch_add(1, Ordering::Relaxed) == 0 {
            return response("429 Too Many Requests", "retry-after: 0\r\n", "");
        }
        honest(request)
    })
    .await;
    pulled.unwrap();
}

struct Password;

#[hookbox::async_trait]
impl Credentials for Password {
    async fn of(&self, _: &str) -> Result<Option<Credential>, RegistryError> {
        Ok(Some(Credential { user: "user".into(), secret: "password".into() }))
    }
}

#[tokio::test]
async fn credentials_go_to_the_registry_and_nowhere_else() {
    let storage = Server::start(|_| sent("x/y", COMPONENT)).await;
    let place = storage.url("/blob");
    let server = Server::start(move |request| {
        if !request.contains("authorization: Basic dXNlcjpwYXNzd29yZA==") {
            return response("401 Unauthorized", "www-authenticate: Basic realm=\"x\"\r\n", "");
        }
        if request.contains("/blobs/") { redirect(&place) } else { honest(request) }
    })
    .await;
    let host = |port| format!("127.0.0.1:{port}");
    let hosts = Hosts::public().vouched(&host(server.port)).vouched(&host(storage.port));
    let registry = Registry::new(ReqwestClient::default(), hosts, Password);
    assert_eq!(registry.pull(&reference(server.port)).await.unwrap().component, COMPONENT.as_bytes());
    assert_eq!(storage.requests().len(), 1);
    assert!(!storage.requests()[0].to_lowercase().contains("authorization"), "{:?}", storage.requests());
}

#[tokio::test]
async fn a_token_is_requested_once() {
    let server = Server::start(|request| {
        let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        if request.starts_with("GET /token?service=s&scope=repository%3Aacme%2Fguard%3Apull ") {
            assert!(request.contains("authorization: Basic dXNlcjpwYXNzd29yZA=="), "{request}");
            return response("200 OK", "", r#"{"token":"abc"}"#);
        }
        if request.contains("authorization: Bearer abc") {
            return honest(request);
        }
        let challenge = format!("www-authenticate: Bearer realm=\"http://{host}/token\",service=\"s\"\r\n");
        response("401 Unauthorized", &challenge, "")
    })
    .await;
    let hosts = Hosts::public().vouched(&format!("127.0.0.1:{}", server.port));
    let registry = Registry::new(ReqwestClient::default(), hosts, Password);
    registry.pull(&reference(server.port)).await.unwrap();
    let tokens = server.requests().iter().filter(|request| request.starts_with("GET /token")).count();
    assert_eq!(tokens, 1, "{:?}", server.requests());
}

#[tokio::test]
async fn credentials_are_read_where_docker_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    let credentials = DockerCredentials::at(&file);
    assert_eq!(credentials.of("registry.example").await.unwrap(), None);
    let config = json!({ "auths": {
        "registry.example": { "auth": "dXNlcjpwYXNzOndvcmQ=" },
        "https://index.docker.io/v1/": { "identitytoken": "abc" },
        "broken.example": { "auth": "%" },
    }});
    std::fs::write(&file, config.to_string()).unwrap();
    let found = credentials.of("registry.example").await.unwrap().unwrap();
    assert_eq!((found.user.as_str(), found.secret.as_str()), ("user", "pass:word"));
    assert_eq!(credentials.of("docker.io").await.unwrap().unwrap().secret, "abc");
    assert_eq!(credentials.of("other.example").await.unwrap(), None);
    // One that cannot be read is no reason to ask without it.
    credentials.of("broken.example").await.unwrap_err();
    for helper in ["no-such-helper", "../evil", ""] {
        std::fs::write(&file, json!({ "credHelpers": { "registry.example": helper } }).to_string()).unwrap();
        credentials.of("registry.example").await.unwrap_err();
    }
    std::fs::write(&file, "{").unwrap();
    credentials.of("registry.example").await.unwrap_err();
}

#[tokio::test]
async fn a_registry_error_does_not_count_as_unsigned() {
    let (key, _) = SigningKey::generate().unwrap();
    for (answer, missing) in [
        (response("404 Not Found", "", ""), true),
        (response("500 Internal Server Error", "", ""), false),
        (response("403 Forbidden", "", ""), false),
        (response("429 Too Many Requests", "retry-after: 3600\r\n", ""), false),
        (sent("text/html", "<html>"), false),
        (sent(INDEX, &"[".repeat(60_000)), false),
        ("SSH-2.0\r\n".to_owned(), false),
    ] {
        let told = answer.clone();
        let server = Server::start(move |request| {
            let signatures = request.contains("/referrers/") || request.contains("/manifests/sha256-");
            if signatures { told.clone() } else { honest(request) }
        })
        .await;
        let (registry, reference) = (registry(server.port), reference(server.port));
        let seen = registry.inspect(&reference).await.unwrap();
        let policy = Policy::new(reference.name(), Mode::Warn, vec![Signer::Key(key.public())]).unwrap();
        let verified = Publishers::new(vec![policy]).verify(&registry, &reference, &seen).await;
        match verified {
            Ok(publisher) => assert!(missing && publisher.is_none(), "{answer}"),
            Err(error) => assert!(!missing && matches!(error, PolicyError::Registry(_)), "{answer}: {error:?}"),
        }
    }
}

#[tokio::test]
async fn signatures_that_are_about_something_else_are_refused() {
    let (key, _) = SigningKey::generate().unwrap();
    let referrer = |subject: &str, digest: &str| {
        json!({
            "schemaVersion": 2, "mediaType": IMAGE, "artifactType": BUNDLE,
            "config": { "mediaType": "application/vnd.oci.empty.v1+json", "digest": self::digest("{}"), "size": 2 },
            "layers": [{ "mediaType": BUNDLE, "digest": digest, "size": 2 }],
            "subject": { "mediaType": IMAGE, "digest": subject, "size": 1 },
        })
        .to_string()
    };
    let own = digest(&manifest().to_string());
    // Of another artifact, of other bytes than its own digest, and of an invalid bundle.
    for manifest in
        [referrer(&digest("another"), &digest("{}")), referrer(&own, &digest("x")), referrer(&own, &digest("{}"))]
    {
        let entry =
            json!({ "mediaType": IMAGE, "artifactType": BUNDLE, "digest": digest(&manifest), "size": manifest.len() });
        let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [entry] }).to_string();
        let named = digest(&manifest);
        let server = Server::start(move |request| {
            if request.contains("/referrers/") {
                sent(INDEX, &index)
            } else if request.contains("/manifests/sha256-") {
                response("404 Not Found", "", "")
            } else if request.contains(&format!("/manifests/{named}")) {
                sent(IMAGE, &manifest)
            } else if request.contains("/blobs/") {
                sent("x/y", "{}")
            } else {
                honest(request)
            }
        })
        .await;
        let (registry, reference) = (registry(server.port), reference(server.port));
        let seen = registry.inspect(&reference).await.unwrap();
        let policy = Policy::new(reference.name(), Mode::Warn, vec![Signer::Key(key.public())]).unwrap();
        Publishers::new(vec![policy]).verify(&registry, &reference, &seen).await.unwrap_err();
    }
}
