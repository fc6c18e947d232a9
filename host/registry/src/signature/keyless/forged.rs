//! Forged keyless bundles, of an authority and logs made for this test (`tests/interop/forged.mjs`).

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};

use super::{Root, SignatureError};

const FORGED: &[u8] = include_bytes!("../published/forged.json");

struct Forged {
    root: Root,
    recorded: Value,
}

impl Forged {
    fn new() -> Self {
        let recorded: Value = serde_json::from_slice(FORGED).unwrap();
        Self { root: Root::parse(&recorded["trustedRoot"].to_string()).unwrap(), recorded }
    }

    fn signer(&self, bundle: &Value) -> Result<String, SignatureError> {
        let text = |name: &str| self.recorded[name].as_str().unwrap();
        self.root.signer(bundle.to_string().as_bytes(), text("digest"), text("issuer"))
    }

    /// A bundle that is good but for one change.
    fn changed(&self, change: impl FnOnce(&mut Value, &Value)) -> Value {
        let mut bundle = self.recorded["signed"][0].clone();
        change(&mut bundle, &self.recorded["signed"][1]);
        bundle
    }
}

#[test]
fn the_bundles_that_are_not_forged_are_accepted() {
    let forged = Forged::new();
    for bundle in forged.recorded["signed"].as_array().unwrap() {
        assert_eq!(forged.signer(bundle).unwrap(), forged.recorded["identity"].as_str().unwrap());
    }
}

#[test]
fn bundles_of_forgers_with_keys_prove_nothing() {
    let forged = Forged::new();
    let cases = forged.recorded["forged"].as_object().unwrap();
    assert!(cases.len() > 9);
    for (case, bundle) in cases {
        let refused = forged.signer(bundle);
        assert!(matches!(refused, Err(SignatureError::Keyless(_))), "{case}: {refused:?}");
    }
}

const ENTRIES: &str = "/verificationMaterial/tlogEntries";
const CERTIFICATE: &str = "/verificationMaterial/certificate";

/// Replaces a part of the first bundle by the part of the second.
fn taken(pointer: &str) -> impl FnOnce(&mut Value, &Value) {
    move |bundle, other| *bundle.pointer_mut(pointer).unwrap() = other.pointer(pointer).unwrap().clone()
}

/// Removes a part of the first log entry.
fn without(key: &str) -> impl FnOnce(&mut Value, &Value) {
    move |bundle, _| {
        bundle["verificationMaterial"]["tlogEntries"][0].as_object_mut().unwrap().remove(key).unwrap();
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn changed_bundles_prove_nothing() {
    let forged = Forged::new();
    let payload = |bundle: &Value, from: &str, to: &str| {
        use base64::{Engine, prelude::BASE64_STANDARD};
        let payload = BASE64_STANDARD.decode(bundle["dsseEnvelope"]["payload"].as_str().unwrap()).unwrap();
        let payload = String::from_utf8(payload).unwrap();
        assert!(payload.contains(from));
        json!(BASE64_STANDARD.encode(payload.replace(from, to)))
    };
    let media = |version: &str| json!(format!("application/vnd.dev.sigstore.bundle+json;version={version}"));
    let cases = [
        ("no log entry", forged.changed(|bundle, _| *bundle.pointer_mut(ENTRIES).unwrap() = json!([]))),
        ("no proof of inclusion", forged.changed(without("inclusionProof"))),
        ("no promise of inclusion, so that nothing signs the time", forged.changed(without("inclusionPromise"))),
        ("no time", forged.changed(without("integratedTime"))),
        ("no body", forged.changed(without("canonicalizedBody"))),
        (
            "another time than the promise signs",
            forged.changed(|bundle, _| {
                bundle["verificationMaterial"]["tlogEntries"][0]["integratedTime"] = json!("1748779201");
            }),
        ),
        (
            "another kind of entry",
            forged.changed(|bundle, _| {
                bundle["verificationMaterial"]["tlogEntries"][0]["kindVersion"]["kind"] = json!("hashedrekord");
            }),
        ),
        (
            "version 2 of the log, which has no promise",
            forged.changed(|bundle, _| {
                let entry = bundle["verificationMaterial"]["tlogEntries"][0].as_object_mut().unwrap();
                entry["kindVersion"] = json!({ "kind": "hashedrekord", "version": "0.0.2" });
                entry.remove("inclusionPromise");
            }),
        ),
        ("the entries of another bundle", forged.changed(taken(ENTRIES))),
        (
            "the entry of another bundle beside its own",
            forged.changed(|bundle, other| {
                let entry = other.pointer(ENTRIES).unwrap()[0].clone();
                bundle.pointer_mut(ENTRIES).unwrap().as_array_mut().unwrap().push(entry);
            }),
        ),
        (
            "more entries than are verified",
            forged.changed(|bundle, _| {
                let entry = bundle.pointer(ENTRIES).unwrap()[0].clone();
                *bundle.pointer_mut(ENTRIES).unwrap() = json!(vec![entry; 9]);
            }),
        ),
        (
            "an invalid timestamp",
            forged.changed(|bundle, _| {
                bundle["verificationMaterial"]["timestampVerificationData"] =
                    json!({ "rfc3161Timestamps": [{ "signedTimestamp": "MAA=" }] });
            }),
        ),
        ("the certificate of another bundle", forged.changed(taken(CERTIFICATE))),
        ("the signature of another bundle", forged.changed(taken("/dsseEnvelope/signatures"))),
        ("no certificate", forged.changed(|bundle, _| *bundle.pointer_mut(CERTIFICATE).unwrap() = json!(null))),
        (
            "an empty certificate",
            forged.changed(|bundle, _| *bundle.pointer_mut(CERTIFICATE).unwrap() = json!({ "rawBytes": "" })),
        ),
        (
            "a chain of certificates",
            forged.changed(|bundle, _| {
                let certificate =
                    bundle["verificationMaterial"].as_object_mut().unwrap().remove("certificate").unwrap();
                bundle["verificationMaterial"]["x509CertificateChain"] = json!({ "certificates": [certificate] });
            }),
        ),
        (
            "a key instead of a certificate",
            forged.changed(|bundle, _| {
                bundle["verificationMaterial"].as_object_mut().unwrap().remove("certificate").unwrap();
                bundle["verificationMaterial"]["publicKey"] = json!({ "hint": "" });
            }),
        ),
        (
            "another payload about the same digest",
            forged.changed(|bundle, _| {
                bundle["dsseEnvelope"]["payload"] = payload(bundle, "\"predicate\":{}", "\"predicate\":{\"a\":1}");
            }),
        ),
        (
            "a payload of another type",
            forged.changed(|bundle, _| bundle["dsseEnvelope"]["payloadType"] = json!("application/json")),
        ),
        ("no signature", forged.changed(|bundle, _| bundle["dsseEnvelope"]["signatures"] = json!([]))),
        (
            "a second signature, which is wrong",
            forged.changed(|bundle, other| {
                let signature = other["dsseEnvelope"]["signatures"][0].clone();
                bundle["dsseEnvelope"]["signatures"].as_array_mut().unwrap().push(signature);
            }),
        ),
        (
            "a signature over bytes instead of an envelope",
            forged.changed(|bundle, _| {
                let signature = bundle["dsseEnvelope"]["signatures"][0]["sig"].clone();
                bundle.as_object_mut().unwrap().remove("dsseEnvelope");
                bundle["messageSignature"] = json!({ "signature": signature });
            }),
        ),
        (
            "version 0.2, with the proof removed",
            forged.changed(|bundle, other| {
                without("inclusionProof")(bundle, other);
                bundle["mediaType"] = media("0.2");
            }),
        ),
        (
            "version 0.1, with the promise removed",
            forged.changed(|bundle, other| {
                without("inclusionPromise")(bundle, other);
                bundle["mediaType"] = media("0.1");
            }),
        ),
        ("version 0.4", forged.changed(|bundle, _| bundle["mediaType"] = media("0.4"))),
        ("a list", json!([])),
        ("an empty object", json!({})),
    ];
    for (case, bundle) in cases {
        let refused = forged.signer(&bundle);
        assert!(refused.is_err(), "{case}: {refused:?}");
    }
}

#[test]
fn texts_that_are_no_bundle_are_refused() {
    let forged = Forged::new();
    let good = forged.recorded["signed"][0].to_string();
    let refused =
        |bytes: &[u8]| forged.root.signer(bytes, forged.recorded["digest"].as_str().unwrap(), "").unwrap_err();
    for end in (0..good.len()).step_by(97) {
        refused(&good.as_bytes()[..end]);
    }
    refused(&vec![b'['; 1 << 20]);
    refused("{\"verificationMaterial\":".repeat(100_000).as_bytes());
    refused(&[0xff; 64]);
}

/// Bytes that change anywhere in a bundle and in its certificate, proof and signatures.
#[test]
fn any_changed_byte_leaves_the_signer_or_fails() {
    let forged = Forged::new();
    let good = forged.recorded["signed"][0].to_string();
    let identity = forged.recorded["identity"].as_str().unwrap();
    let [digest, issuer] = ["digest", "issuer"].map(|name| forged.recorded[name].as_str().unwrap());
    let payload = good.find("\"payload\":\"").unwrap()..good.find("\"payloadType\"").unwrap();
    for at in 0..good.len() {
        let mut changed = good.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        if let Ok(found) = forged.root.signer(&changed, digest, issuer) {
            assert_eq!(found, identity);
            assert!(!payload.contains(&at), "byte {at} of the payload");
        }
    }
}
