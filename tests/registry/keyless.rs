//! Keyless signatures of the real `cosign`, with a certificate authority and logs on this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    interop::{done, image, recorded, replayed, save, tool, written},
    setup::{Setup, denied, passed, silent},
};

/// The identity for which `tests/interop/sigstore.mjs` issues certificates, and its issuer.
const IDENTITY: &str = "https://github.com/acme/guard/.github/workflows/release.yml@refs/tags/*";
const ISSUER: &str = "https://token.actions.example";

#[test]
fn a_keyless_signature_of_cosign_is_verified_offline() {
    let (setup, recording) = replayed("cosign-keyless.json");
    let root = written(&setup, "trusted_root.json", &recording["root"]);
    let policy = |identity: &str, issuer: &str| {
        setup.policy(
            &json!({ "identities": [{ "identity": identity, "issuer": issuer }], "trustedRoot": root }),
            &json!({}),
        );
    };
    policy(IDENTITY, ISSUER);
    setup.does(&["lock"]);
    let publisher = setup.entry()["publisher"].as_str().unwrap().to_owned();
    assert!(publisher.contains(IDENTITY) && publisher.contains(ISSUER), "{publisher}");
    passed(&setup.run());
    for (identity, issuer) in [
        ("https://github.com/evil/guard/*", ISSUER),
        ("https://github.com/acme/guard/.github/workflows/release.yml@refs/tags/v2.0", ISSUER),
        (IDENTITY, "https://token.actions.evil"),
        (IDENTITY, "https://token.actions"),
    ] {
        policy(identity, issuer);
        let told = setup.ends(84, &["info", &setup.reference()]);
        assert!(told.contains("wrong signature"), "{identity} {issuer}: {told}");
    }
    policy("https://github.com/acme/guard/.github/workflows/release.yml@refs/tags/v1.0", ISSUER);
    setup.does(&["info", &setup.reference()]);
    // Signed by a certificate of a root that the operator has not pinned.
    let other: Value = serde_json::from_slice(&fs::read(recorded("other-root.json")).unwrap()).unwrap();
    fs::write(&root, other.to_string()).unwrap();
    assert!(setup.ends(84, &["info", &setup.reference()]).contains("wrong signature"));
    // A root that cannot be read is an error of the configuration, and no hook of the repository is taken.
    for broken in ["", "{}", "{"] {
        fs::write(&root, broken).unwrap();
        setup.ends(78, &["info", &setup.reference()]);
    }
}

/// A certificate authority and logs on this machine. They stop when the value is dropped.
struct Sigstore(std::process::Child, PathBuf);

impl Sigstore {
    fn start(folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let script = std::env::var_os("SIGSTORE").expect("SIGSTORE is not set: ./just interop");
        let child = Command::new("node").arg(script).arg(folder).spawn().unwrap();
        let own = Self(child, folder.to_owned());
        let begun = Instant::now();
        while !folder.join("url").exists() {
            assert!(begun.elapsed() < Duration::from_secs(30), "it does not start");
            thread::sleep(Duration::from_millis(50));
        }
        let url = fs::read_to_string(folder.join("url")).unwrap();
        let start = "start-time=2024-01-01T00:00:00Z";
        let service = format!("url={url},api-version=1,{start},operator=own");
        let mut config = tool("cosign");
        config.args(["signing-config", "create", "--rekor-config", "ANY", "--out", "config.json"]);
        for kind in ["--fulcio", "--rekor", "--oidc-provider"] {
            config.args([kind, &service]);
        }
        done(config.current_dir(folder));
        let mut root = tool("cosign");
        root.args(["trusted-root", "create", "--out", "root.json"]);
        root.args(["--fulcio", &format!("url={url},certificate-chain=fulcio.pem,{start}")]);
        root.args(["--rekor", &format!("url={url},public-key=rekor.pub,{start}")]);
        done(root.args(["--ctfe", &format!("url={url},public-key=ctfe.pub,{start}")]).current_dir(folder));
        own
    }

    fn root(&self) -> Value {
        serde_json::from_slice(&fs::read(self.1.join("root.json")).unwrap()).unwrap()
    }
}

impl Drop for Sigstore {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "needs cosign: ./just interop"]
fn keyless_signatures_of_cosign_hold_only_under_the_pinned_root() {
    let setup = Setup::new(&silent(1));
    let (own, other) =
        (Sigstore::start(&setup.home.path().join("own")), Sigstore::start(&setup.home.path().join("other")));
    let mut sign = tool("cosign");
    sign.args([
        "sign",
        "--signing-config",
        "config.json",
        "--trusted-root",
        "root.json",
        "--identity-token",
        "token",
        "--yes",
    ]);
    done(sign.arg(image(&setup)).current_dir(&own.1));
    save("cosign-keyless.json", &setup, &json!({ "root": own.root() }));
    if std::env::var_os("RECORD").is_some() {
        fs::write(recorded("other-root.json"), serde_json::to_string_pretty(&other.root()).unwrap() + "\n").unwrap();
    }
    let identities = json!([{ "identity": IDENTITY, "issuer": ISSUER }]);
    setup.policy(&json!({ "identities": identities, "trustedRoot": other.1.join("root.json") }), &json!({}));
    assert!(setup.ends(84, &["lock"]).contains("wrong signature"));
    assert!(denied(&setup.run()).contains("hookbox.lock"));
    setup.policy(&json!({ "identities": identities, "trustedRoot": own.1.join("root.json") }), &json!({}));
    setup.does(&["lock"]);
    passed(&setup.run());
}
