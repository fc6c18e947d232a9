//! Hooks of registries under the daemon: fetched when a tenant is loaded, from hosts that the operator named, for that tenant alone.

use std::{fs, path::Path, process::Command};

use hookbox_testing::{examples, registry::Registry};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, PATIENCE, bash, closed, denies, hash, hooks};

/// Runs `hookbox` as the tenant's own people do, in a folder and with a home.
fn hookbox(folder: &Path, home: &Path, args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    for variable in ["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
        command.env(variable, home);
    }
    let output = command.args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
}

/// A tenant whose hooks stand in a folder of its own.
fn tenant_in_folder(name: &str) -> Value {
    json!({ "tokens": [hash(name)], "hooks": { "claude": format!("{name}/hooks.json") } })
}

/// Files of a tenant `acme` with the command guard of a registry, locked.
fn files(registry: &Registry) -> Files {
    let (files, home) = (Files::new(), tempfile::tempdir().unwrap());
    let reference = registry.reference("acme/guard:1");
    hookbox(home.path(), home.path(), &["push", examples::component("command-guard").to_str().unwrap(), &reference]);
    fs::create_dir(files.path("tenants/acme")).unwrap();
    files.write("tenants/acme.json", &tenant_in_folder("acme"));
    files.write("tenants/acme/hooks.json", &closed(hooks(&reference)));
    fs::create_dir(home.path().join("hookbox")).unwrap();
    let allowed = json!({ "registries": { &registry.host: { "private": true } } });
    fs::write(home.path().join("hookbox/registries.json"), allowed.to_string()).unwrap();
    hookbox(&files.path("tenants/acme"), home.path(), &["lock"]);
    files
}

/// Settings that allow the registry.
fn allowed(registry: &Registry) -> Value {
    json!({ "registries": { "hosts": { &registry.host: { "private": true } }, "folder": "fetched" } })
}

async fn denied(daemon: &Daemon, tenant: &str) -> bool {
    denies(&daemon.verdict(tenant, bash("rm -rf /")).await) && !denies(&daemon.verdict(tenant, bash("ls")).await)
}

#[tokio::test]
async fn locked_components_are_fetched_once_per_tenant() {
    let mut registry = Registry::start();
    let files = files(&registry);
    files.settings(allowed(&registry));
    let mut daemon = files.start();
    assert!(denied(&daemon, "acme").await);

    // From now on nothing is asked for.
    registry.stop();
    daemon.restart();
    assert!(denied(&daemon, "acme").await);

    // Another tenant that names the same component has not got it.
    fs::create_dir(daemon.files.path("tenants/beta")).unwrap();
    for file in ["hooks.json", "hookbox.lock"] {
        let of = |tenant: &str| daemon.files.path(&format!("tenants/{tenant}/{file}"));
        fs::copy(of("acme"), of("beta")).unwrap();
    }
    daemon.files.write("tenants/beta.json", &tenant_in_folder("beta"));
    daemon.until("refused", async || daemon.log().contains("does not respond")).await;
    assert!(denies(&daemon.verdict("beta", bash("ls")).await));
}

#[tokio::test]
async fn a_slow_registry_leaves_permits_to_the_tenants_of_others() {
    let (registry, slow) = (Registry::start(), tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap());
    let (files, slow_host) = (files(&registry), slow.local_addr().unwrap().to_string());
    let mut settings = allowed(&registry);
    settings["registries"]["hosts"][&slow_host] = json!({ "private": true });
    files.settings(settings);
    fs::rename(files.path("tenants/acme.json"), files.path("acme.json")).unwrap();
    let declared = |text: &str| format!("sha256:{}", hookbox::sha256(text));
    let reference = registry.reference("acme/guard:1");
    let slow_reference = reference.replace(&registry.host, &slow_host);
    // As many tenants as there are permits to fetch.
    for tenant in ["a", "b", "c", "d"] {
        fs::create_dir(files.path("tenants").join(tenant)).unwrap();
        for file in ["hooks.json", "hookbox.lock"] {
            let text = fs::read_to_string(files.path("tenants/acme").join(file)).unwrap();
            let text = text.replace(&declared(&reference), &declared(&slow_reference));
            let text = text.replace(&registry.host, &slow_host);
            fs::write(files.path("tenants").join(tenant).join(file), text).unwrap();
        }
        files.write(&format!("tenants/{tenant}.json"), &tenant_in_folder(tenant));
    }
    let daemon = files.start();
    // Two of them connect, and never get an answer.
    let accept = async || tokio::time::timeout(PATIENCE, slow.accept()).await.unwrap().unwrap();
    let _waiting = [accept().await, accept().await];
    fs::rename(daemon.files.path("acme.json"), daemon.files.path("tenants/acme.json")).unwrap();
    daemon.until("acme is loaded", async || daemon.log().contains("is loaded")).await;
    assert!(denied(&daemon, "acme").await);
    assert!(!daemon.log().contains("does not respond"), "{}", daemon.log());
}

#[tokio::test]
async fn a_changed_lock_is_loaded_and_an_invalid_one_is_not() {
    let registry = Registry::start();
    let files = files(&registry);
    files.settings(allowed(&registry));
    let daemon = files.start();
    assert!(denied(&daemon, "acme").await);
    let path = daemon.files.path("tenants/acme/hookbox.lock");
    let whole = fs::read_to_string(&path).unwrap();
    let lock: Value = serde_json::from_str(&whole).unwrap();
    let digest =
        lock["components"].as_object().unwrap().values().next().unwrap()["digest"].as_str().unwrap().to_owned();
    let other = format!("sha256:{}", "0".repeat(64));
    daemon.files.write_text("tenants/acme/hookbox.lock", &whole.replace(&digest, &other));
    daemon.until("refused", async || daemon.log().contains("is locked")).await;
    // The loaded hooks stay in use.
    assert!(denied(&daemon, "acme").await);
}

#[tokio::test]
async fn a_tenant_reaches_no_host_that_the_operator_did_not_name() {
    let registry = Registry::start();
    for (settings, why) in [
        (json!({}), "does not allow hooks from registries"),
        (
            json!({ "registries": { "hosts": { "registry.example": {} }, "folder": "fetched" } }),
            "it is not an allowed registry",
        ),
        (json!({ "registries": { "hosts": { &registry.host: {} }, "folder": "fetched" } }), "are not allowed"),
    ] {
        let files = files(&registry);
        files.settings(settings);
        let daemon = files.start();
        daemon.until("refused", async || daemon.log().contains(why)).await;
        assert!(denies(&daemon.verdict("acme", bash("ls")).await));
    }
}

#[tokio::test]
async fn the_operators_policy_overrides_the_tenants_lock() {
    let registry = Registry::start();
    let files = files(&registry);
    let lock = fs::read(files.path("tenants/acme/hookbox.lock")).unwrap();
    let lock: Value = serde_json::from_slice(&lock).unwrap();
    let digest = lock["components"].as_object().unwrap().values().next().unwrap()["digest"].clone();
    let manifest = lock["components"].as_object().unwrap().values().next().unwrap()["manifest"].clone();
    let mut settings = allowed(&registry);
    settings["registries"]["revoked"] = json!({ "digests": [digest] });
    files.settings(settings);
    let mut daemon = files.start();
    daemon.until("refused", async || daemon.log().contains("is revoked")).await;
    assert!(denies(&daemon.verdict("acme", bash("ls")).await));

    // A tenant whose lock says another manifest does not evade the revocation of the verified one.
    daemon.files.settings(allowed(&registry));
    daemon.restart();
    assert!(denied(&daemon, "acme").await);
    let path = daemon.files.path("tenants/acme/hookbox.lock");
    let evading =
        fs::read_to_string(&path).unwrap().replace(manifest.as_str().unwrap(), &format!("sha256:{}", "0".repeat(64)));
    fs::write(&path, evading).unwrap();
    let mut settings = allowed(&registry);
    settings["registries"]["revoked"] = json!({ "digests": [manifest] });
    daemon.files.settings(settings);
    daemon.restart();
    assert!(denies(&daemon.verdict("acme", bash("ls")).await));
}

/// A tenant may own the file of its credentials.
#[tokio::test]
async fn credentials_of_a_tenant_start_no_helper_and_are_not_a_neighbours() {
    let registry = Registry::start();
    let files = files(&registry);
    files.settings(allowed(&registry));
    let programs = files.path("programs");
    fs::create_dir(&programs).unwrap();
    let helper = programs.join("docker-credential-operators");
    fs::write(&helper, format!("#!/bin/sh\ntouch {}\n", files.path("ran").display())).unwrap();
    fs::set_permissions(&helper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut owner = tenant_in_folder("acme");
    owner["credentials"] = "acme/docker.json".into();
    files.write("tenants/acme.json", &owner);
    let own = files.path("tenants/acme/docker.json");
    files.write("tenants/acme/docker.json", &json!({ "credsStore": "operators" }));
    let path = std::env::join_paths([programs, "/usr/bin".into()]).unwrap();
    let daemon = Daemon::with(files, |command| {
        command.env("PATH", path);
    });
    daemon.until("refused", async || daemon.log().contains("`credsStore` and `credHelpers` are not supported")).await;
    assert!(denies(&daemon.verdict("acme", bash("ls")).await) && !daemon.files.path("ran").exists());
    // A link to the credentials of a neighbour or of the operator.
    daemon.files.write("docker.json", &json!({ "auths": {} }));
    fs::remove_file(&own).unwrap();
    std::os::unix::fs::symlink("../../docker.json", &own).unwrap();
    daemon.until("refused", async || daemon.log().contains("it is outside of the allowed folder")).await;
    // A secret that is written wrong is not quoted.
    fs::remove_file(&own).unwrap();
    daemon.files.write("tenants/acme/docker.json", &json!({ "auths": { "x": "user:secret" } }));
    daemon.until("refused", async || daemon.log().contains("invalid at line 1")).await;
    assert!(!daemon.log().contains("user:secret"));
    daemon.files.write("tenants/acme/docker.json", &json!({ "auths": {} }));
    daemon.until("loaded", async || !denies(&daemon.verdict("acme", bash("ls")).await)).await;
}
