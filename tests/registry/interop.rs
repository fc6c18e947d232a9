//! Real `cosign` and `wkg`: what they sign and push is verified and pulled, and vice versa.
//!
//! The ordinary tests replay what these programs once wrote to a registry (`recorded/`). `./just interop` builds the
//! programs and runs the tests that need them; with `RECORD=1` it writes the recordings again.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::setup::{Setup, keys, passed, silent};

const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

struct Answer {
    status: u16,
    location: String,
    media_type: String,
    body: Vec<u8>,
}

/// Sends one request to a registry.
fn ask(method: &str, url: &str, media_type: &str, body: Vec<u8>) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.request(method.parse().unwrap(), url).header("accept", format!("{IMAGE}, {INDEX}"));
        let response = request.header("content-type", media_type).body(body).send().await.unwrap();
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (location, media_type) =
            (header("location").unwrap_or_default(), header("content-type").unwrap_or_default());
        Answer {
            status: response.status().as_u16(),
            location,
            media_type,
            body: response.bytes().await.unwrap().into(),
        }
    })
}

/// A repository of a registry.
struct Repository(String);

impl Repository {
    fn of(setup: &Setup) -> Self {
        Self(format!("http://{}/v2/acme/guard", setup.registry.host))
    }

    /// Everything that belongs to a tag: its manifest, the signatures beside it, and their blobs.
    fn record(&self, tag: &str) -> Value {
        let (mut manifests, mut blobs) = (Vec::new(), Vec::new());
        let mut names = vec![tag.to_owned()];
        while let Some(name) = names.pop() {
            let answer = ask("GET", &format!("{}/manifests/{name}", self.0), "", Vec::new());
            if answer.status != 200 {
                continue;
            }
            let manifest: Value = serde_json::from_slice(&answer.body).unwrap();
            if name == tag {
                names.push(format!("sha256-{}", hookbox::sha256(&answer.body)));
            }
            for entry in manifest["manifests"].as_array().into_iter().flatten() {
                names.push(entry["digest"].as_str().unwrap().to_owned());
            }
            for blob in manifest["layers"].as_array().into_iter().flatten().chain([&manifest["config"]]) {
                if let Some(digest) = blob["digest"].as_str() {
                    let answer = ask("GET", &format!("{}/blobs/{digest}", self.0), "", Vec::new());
                    blobs.push(BASE64_STANDARD.encode(answer.body));
                }
            }
            let text = String::from_utf8(answer.body).unwrap();
            manifests.push(json!({ "name": name, "mediaType": answer.media_type, "text": text }));
        }
        // What is referred to comes first.
        manifests.reverse();
        json!({ "manifests": manifests, "blobs": blobs })
    }

    fn replay(&self, recorded: &Value) {
        for blob in recorded["blobs"].as_array().unwrap() {
            let bytes = BASE64_STANDARD.decode(blob.as_str().unwrap()).unwrap();
            let begun = ask("POST", &format!("{}/blobs/uploads/", self.0), "", Vec::new());
            let place = format!("{}&digest=sha256:{}", begun.location, hookbox::sha256(&bytes));
            assert_eq!(ask("PUT", &place, "application/octet-stream", bytes).status, 201);
        }
        for manifest in recorded["manifests"].as_array().unwrap() {
            let [name, media_type, text] = ["name", "mediaType", "text"].map(|key| manifest[key].as_str().unwrap());
            let put = ask("PUT", &format!("{}/manifests/{name}", self.0), media_type, text.as_bytes().to_vec());
            assert_eq!(put.status, 201, "{name}: {}", String::from_utf8_lossy(&put.body));
        }
    }
}

pub fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/registry/recorded").join(name)
}

/// A setup whose registry has a recorded repository, with this tag `1`.
pub fn replayed(name: &str) -> (Setup, Value) {
    let recording: Value = serde_json::from_slice(&fs::read(recorded(name)).unwrap()).unwrap();
    let setup = Setup::new(&silent(9));
    Repository::of(&setup).replay(&recording);
    (setup, recording)
}

pub fn save(name: &str, setup: &Setup, more: &Value) {
    if std::env::var_os("RECORD").is_some() {
        let mut recording = Repository::of(setup).record("1");
        recording.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fs::create_dir_all(recorded("")).unwrap();
        fs::write(recorded(name), serde_json::to_string_pretty(&recording).unwrap() + "\n").unwrap();
    }
}

/// Writes a text of a recording to the user's folder.
pub fn written(setup: &Setup, name: &str, text: &Value) -> PathBuf {
    let file = setup.home.path().join(name);
    let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn a_signature_that_cosign_made_with_a_key_is_verified() {
    let (setup, recording) = replayed("cosign-key.json");
    let key = written(&setup, "cosign.pub", &recording["key"]);
    setup.policy(&json!({ "keys": [key] }), &json!({}));
    setup.does(&["lock"]);
    assert_eq!(setup.entry()["attested"], true);
    passed(&setup.run());
    // Also by the provenance alone, which tells where the component was built.
    let info = setup.does(&["info", &setup.reference()]);
    assert!(info.contains("built from") && info.contains("acme/guard"), "{info}");
    let [(_, other), _] = keys(setup.home.path());
    setup.policy(&json!({ "keys": [other] }), &json!({}));
    assert!(setup.ends(84, &["info", &setup.reference()]).contains("wrong signature"));
}

#[test]
fn artifacts_of_wkg_are_pulled_and_locked() {
    let (setup, _) = replayed("wkg.json");
    setup.does(&["lock"]);
    passed(&setup.run());
    setup.does(&["pull", &setup.reference(), "-o", "pulled.wasm"]);
    assert_eq!(fs::read(setup.dir.path().join("pulled.wasm")).unwrap(), silent(1));
}

/// One of the real programs.
pub fn tool(name: &str) -> Command {
    let variable = name.to_uppercase();
    let mut command =
        Command::new(std::env::var_os(&variable).unwrap_or_else(|| panic!("{variable} is not set: ./just interop")));
    command.env("COSIGN_PASSWORD", "").stdin(Stdio::null());
    command
}

#[track_caller]
pub fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// The predicate of a provenance, as GitHub Actions writes it.
fn provenance(setup: &Setup) -> PathBuf {
    let predicate = json!({
        "buildDefinition": {
            "buildType": "https://actions.github.io/buildtypes/workflow/v1",
            "externalParameters": { "workflow": {
                "ref": "refs/tags/v1.0", "repository": "https://github.com/acme/guard", "path": ".github/workflows/release.yml",
            } },
            "resolvedDependencies": [{
                "uri": "git+https://github.com/acme/guard@refs/tags/v1.0",
                "digest": { "gitCommit": "0123456789abcdef0123456789abcdef01234567" },
            }],
        },
        "runDetails": { "builder": { "id": "https://github.com/actions/runner/github-hosted" } },
    });
    written(setup, "provenance.json", &predicate)
}

/// The artifact by its digest, as cosign wants it.
pub fn image(setup: &Setup) -> String {
    let digest = setup.does(&["digest", &setup.reference()]);
    format!("{}/acme/guard@{}", setup.registry.host, digest.trim())
}

#[test]
#[ignore = "needs cosign: ./just interop"]
fn cosign_and_hookbox_verify_each_other_with_keys() {
    let setup = Setup::new(&silent(1));
    let home = setup.home.path();
    done(tool("cosign").arg("generate-key-pair").current_dir(home));
    done(tool("cosign").args(["signing-config", "create", "--out", "config.json"]).current_dir(home));
    let image = image(&setup);
    let cosign = |words: &[&str]| {
        let mut command = tool("cosign");
        command.args(words).args(["--key", "cosign.key", "--signing-config", "config.json", "--yes", &image]);
        done(command.current_dir(home));
    };
    let provenance = provenance(&setup);
    cosign(&["sign"]);
    cosign(&["attest", "--type", "slsaprovenance1", "--predicate", provenance.to_str().unwrap()]);
    save("cosign-key.json", &setup, &json!({ "key": fs::read_to_string(home.join("cosign.pub")).unwrap() }));
    setup.policy(&json!({ "keys": [home.join("cosign.pub")] }), &json!({}));
    setup.does(&["lock"]);
    assert_eq!(setup.entry()["attested"], true);

    // One of hookbox beside that of cosign, then another one of cosign: all of them stay.
    let [(key, public), (_, other)] = keys(home);
    let verifies = |key: &Path| {
        let mut command = tool("cosign");
        command.args(["verify", "--insecure-ignore-tlog", "--key"]).arg(key).arg(&image);
        command.output().unwrap().status.success()
    };
    assert!(!verifies(&public));
    setup.sign(&key);
    assert!(verifies(&public) && verifies(&home.join("cosign.pub")) && !verifies(&other));
    cosign(&["attest", "--type", "https://example.com/scan", "--predicate", provenance.to_str().unwrap()]);
    assert!(verifies(&public) && verifies(&home.join("cosign.pub")));
    setup.policy(&json!({ "keys": [public] }), &json!({}));
    setup.does(&["info", &setup.reference()]);
}

#[test]
#[ignore = "needs cosign: ./just interop"]
fn an_attestation_of_something_else_is_not_a_signature() {
    let setup = Setup::new(&silent(1));
    let home = setup.home.path();
    done(tool("cosign").arg("generate-key-pair").current_dir(home));
    done(tool("cosign").args(["signing-config", "create", "--out", "config.json"]).current_dir(home));
    let predicate = provenance(&setup);
    let mut attest = tool("cosign");
    attest.args(["attest", "--type", "https://example.com/scan", "--predicate"]).arg(predicate);
    done(
        attest
            .args(["--key", "cosign.key", "--signing-config", "config.json", "--yes", &image(&setup)])
            .current_dir(home),
    );
    setup.policy(&json!({ "keys": [home.join("cosign.pub")] }), &json!({}));
    assert!(setup.ends(84, &["lock"]).contains("is not signed"));
    setup.policy(&json!({ "mode": "warn", "keys": [home.join("cosign.pub")] }), &json!({}));
    setup.does(&["lock"]);
    assert_eq!(setup.entry()["attested"], false);
}

#[test]
#[ignore = "needs wkg: ./just interop"]
fn wkg_and_hookbox_pull_each_others_artifacts() {
    let setup = Setup::new(&silent(2));
    let (pushed, pulled) = (setup.home.path().join("pushed.wasm"), setup.home.path().join("pulled.wasm"));
    fs::write(&pushed, silent(1)).unwrap();
    let place = |tag: &str| format!("{}/acme/guard:{tag}", setup.registry.host);
    let insecure = ["--insecure", &setup.registry.host];
    // Those of hookbox by wkg.
    let mut pull = tool("wkg");
    done(pull.args(["oci", "pull", &place("1"), "--output"]).arg(&pulled).args(insecure));
    assert_eq!(fs::read(&pulled).unwrap(), silent(2));
    // Those of wkg by hookbox.
    let mut push = tool("wkg");
    done(push.args(["oci", "push", &place("1")]).arg(&pushed).args(insecure));
    save("wkg.json", &setup, &json!({}));
    setup.does(&["lock"]);
    passed(&setup.run());
    assert_eq!(setup.entry()["digest"], format!("sha256:{}", hookbox::sha256(silent(1))));
}
