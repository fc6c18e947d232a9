//! Signatures, policies and revocations.

use std::fs;

use serde_json::json;

use crate::setup::{Setup, denied, keys, passed, silent};

#[test]
fn only_the_publishers_key_is_accepted() {
    let setup = Setup::new(&silent(1));
    let [(first, first_public), (second, second_public)] = keys(setup.home.path());
    let require = json!({ "mode": "require", "keys": [&first_public] });
    setup.policy(&require, &json!({}));
    let told = setup.ends(84, &["lock"]);
    assert!(told.contains("is not signed"), "{told}");
    assert!(!setup.lock_file().exists());

    // Another's signature is a wrong one, in every mode but `off`.
    setup.sign(&second);
    assert!(setup.ends(84, &["lock"]).contains("wrong signature"));
    setup.policy(&json!({ "mode": "warn", "keys": [&first_public] }), &json!({}));
    assert!(setup.ends(84, &["lock"]).contains("wrong signature"));
    setup.policy(&require, &json!({}));

    let told = setup.sign(&first);
    setup.does(&["lock"]);
    let publisher = setup.entry()["publisher"].as_str().unwrap().to_owned();
    assert!(told.contains(&publisher), "{told} {publisher}");
    assert_eq!(setup.entry()["attested"], true);
    passed(&setup.run());
    assert!(setup.does(&["info", &setup.reference()]).contains(&publisher));

    // A new version of another publisher, whom the policy allows too.
    setup.policy(&json!({ "keys": [&first_public, &second_public] }), &json!({}));
    setup.push(&silent(2), "1");
    setup.sign(&second);
    let told = setup.ends(81, &["update"]);
    assert!(told.contains("! publisher"), "{told}");
    passed(&setup.run());
    assert_eq!(setup.entry()["publisher"], publisher);
}

#[test]
fn a_lost_signature_waits_for_approval() {
    let setup = Setup::new(&silent(1));
    let [(first, first_public), _] = keys(setup.home.path());
    setup.policy(&json!({ "mode": "warn", "keys": [&first_public] }), &json!({}));
    setup.sign(&first);
    setup.does(&["lock"]);
    setup.push(&silent(2), "1");
    let told = setup.ends(81, &["update"]);
    assert!(told.contains("not attested now"), "{told}");
    assert_eq!(setup.entry()["attested"], true);
    setup.does(&["approve"]);
    assert_eq!(setup.entry()["attested"], false);
    passed(&setup.run());
}

#[test]
fn revoked_components_do_not_run() {
    let setup = Setup::new(&silent(1));
    let [(first, first_public), _] = keys(setup.home.path());
    let require = json!({ "keys": [&first_public] });
    setup.policy(&require, &json!({}));
    setup.sign(&first);
    setup.does(&["lock"]);
    passed(&setup.run());
    let entry = setup.entry();
    for revoked in [
        json!({ "digests": [entry["digest"]] }),
        json!({ "digests": [entry["manifest"]] }),
        json!({ "publishers": [entry["publisher"]] }),
    ] {
        setup.policy(&require, &revoked);
        assert!(denied(&setup.run()).contains("is revoked"), "{revoked}");
        setup.ends(84, &["lock", "--locked"]);
        setup.ends(84, &["update"]);
    }
    // A checkout whose lock says another manifest does not evade the revocation of the approved one.
    let reference = setup.reference();
    setup.edit(|lock| lock["components"][&reference]["manifest"] = format!("sha256:{}", "0".repeat(64)).into());
    setup.policy(&require, &json!({}));
    passed(&setup.run());
    setup.policy(&require, &json!({ "digests": [entry["manifest"]] }));
    assert!(denied(&setup.run()).contains("is revoked"));
    setup.ends(84, &["lock", "--locked"]);
    // A revocation that would revoke nothing is an error.
    setup.policy(&require, &json!({ "digests": [entry["digest"].as_str().unwrap().to_uppercase()] }));
    assert!(denied(&setup.run()).contains("cannot read what is revoked"));
    setup.ends(78, &["lock"]);
    // A file that cannot be read may revoke anything.
    fs::write(setup.home.path().join("hookbox/registries.json"), "{").unwrap();
    assert!(denied(&setup.run()).contains("cannot read what is revoked"));
    setup.policy(&require, &json!({}));
    passed(&setup.run());
}

#[test]
fn an_inconsistent_policy_is_an_error() {
    let setup = Setup::new(&silent(1));
    for policy in
        [json!({ "mode": "require" }), json!({ "keys": ["no-such-file.pub"] }), json!({ "keys": ["-----BEGIN X"] })]
    {
        setup.policy(&policy, &json!({}));
        setup.ends(78, &["lock"]);
    }
    setup.policy(&json!({ "mode": "off" }), &json!({}));
    setup.does(&["lock"]);
}
