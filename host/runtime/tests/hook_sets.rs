//! One runtime with many hook sets: what they share, their bounds, and the embedder's own parts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hookbox::{
    BuildError, Callback, Cause, Ceiling, ComponentSource, Config, EventContext, FailurePolicy, HookOutput, HookSet,
    Limits, LoadError, Mode, Permissions, Run, Runtime, Tenant, ToolCall, Verdict, Wanted, async_trait,
    capability::{
        HttpError, HttpResponse, LlmError, StateError,
        http::{Exchange, HttpClient, Reach},
        llm::{Conversation, Model, Reply},
        state::{Space, Store},
    },
    handler::{Call, Handler},
    sandbox::permission::{HttpGrant, StateDetails, StateGrant},
};
use hookbox_protocol::authority::{Authority, Rewrite};
use hookbox_testing::guest;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The case of `deny` in `pre-tool-use.wit`.
const DENY: &str = "(i32.store8 (i32.const 4) (i32.const 3))";
const ALLOW: &str = "(i32.store8 (i32.const 4) (i32.const 1))";

fn component(folder: &TempDir, name: &str, body: &str) {
    fs::write(folder.path().join(name), guest::encode(&guest::gate(body, ""), guest::GATE, "")).unwrap();
}

fn runtime(folder: &TempDir) -> hookbox::RuntimeBuilder {
    Runtime::builder().cache_dir(folder.path().join("cache"))
}

fn read(runtime: &Runtime, folder: &Path, config: &Value) -> Config {
    let loaded = runtime.reader().text(&config.to_string(), &folder.join("hooks.json"));
    loaded.unwrap_or_else(|errors| panic!("{errors}")).config
}

fn hooks(handlers: &Value) -> Value {
    json!({ "hooks": { "PreToolUse": [{ "hooks": handlers }] } })
}

async fn load(runtime: &Runtime, folder: &TempDir, tenant: Tenant, config: &Value) -> Result<HookSet, BuildError> {
    HookSet::load(runtime, tenant, read(runtime, folder.path(), config)).await
}

/// `docs/configuration.md`: limits at the top level are those of every hook.
#[tokio::test]
async fn the_output_limit_holds_for_commands() {
    let folder = tempfile::tempdir().unwrap();
    let prints = |kib: u32| {
        let command = format!("printf '{{}}'; head -c {} /dev/zero | tr '\\0' ' '", kib * 1024 - 2);
        hooks(&json!([{ "type": "command", "command": command }]))
    };
    let runtime = runtime(&folder).build().unwrap();
    for (limit, kib, most, fails) in [
        (None, 1024, None, false),
        (None, 1025, None, true),
        (Some(2), 2, None, false),
        (Some(2), 3, None, true),
        (Some(2048), 2000, None, false),
        (Some(2048), 2000, Some(1000), true),
    ] {
        let mut config = prints(kib);
        if let Some(limit) = limit {
            config["limits"] = json!({ "outputKiB": limit });
        }
        let mut tenant = Tenant::new("acme");
        if let Some(most) = most {
            let limits = Limits { output_kib: most, ..Limits::default() };
            tenant = tenant.ceiling(Ceiling::new().handler("command").limits(limits));
        }
        let hooks = load(&runtime, &folder, tenant, &config).await.unwrap();
        let failed = bash(&hooks).await.hooks[0].outcome().unwrap().as_ref().err().map(|failure| failure.cause);
        assert_eq!(failed, fails.then_some(Cause::OutputTooLarge), "{limit:?} {kib} {most:?}");
    }
}

async fn bash(hooks: &HookSet) -> Verdict {
    hooks.pre_tool_use(EventContext::default(), ToolCall::new("Bash", json!({ "command": "ls" }))).await
}

/// The errors of a configuration that exceeds the ceiling, as "pointer: message".
fn beyond(result: Result<HookSet, BuildError>) -> Vec<String> {
    match result {
        Err(BuildError::Config(errors)) => {
            errors.diagnostics.iter().map(|found| format!("{}: {}", found.pointer, found.message)).collect()
        }
        other => panic!("{other:?}"),
    }
}

const HOOK: &str = "/hooks/PreToolUse/0/hooks/0";

#[tokio::test]
async fn a_component_is_in_memory_once_until_its_last_hook_set() {
    let folder = tempfile::tempdir().unwrap();
    component(&folder, "one.wasm", DENY);
    fs::copy(folder.path().join("one.wasm"), folder.path().join("same.wasm")).unwrap();
    component(&folder, "two.wasm", ALLOW);
    let runtime = runtime(&folder).build().unwrap();
    assert_eq!(runtime.components(), 0);
    // Four entries with two components. One entry has other grants, which are not part of the code.
    let config = hooks(&json!([
        { "type": "wasm", "component": "one.wasm" },
        { "type": "wasm", "component": "one.wasm", "permissions": { "state": true }, "config": { "a": 1 } },
        { "type": "wasm", "component": "same.wasm", "authority": "gate" },
        { "type": "wasm", "component": "two.wasm" },
    ]));
    let acme = load(&runtime, &folder, Tenant::new("acme"), &config).await.unwrap();
    let other = load(&runtime, &folder, Tenant::new("other"), &config).await.unwrap();
    assert_eq!(runtime.components(), 2);
    let shared = acme.clone();
    drop(acme);
    drop(other);
    assert_eq!(runtime.components(), 2);
    assert_eq!(bash(&shared).await.output().word(), "deny");
    drop(shared);
    assert_eq!(runtime.components(), 0);
}

#[tokio::test]
async fn a_configuration_without_components_starts_no_engine() {
    let folder = tempfile::tempdir().unwrap();
    // No engine can reserve so many instances.
    let runtime = runtime(&folder).max_instances(u32::MAX).build().unwrap();
    let config = hooks(&json!([{ "type": "command", "command": "cat >/dev/null" }]));
    let acme = load(&runtime, &folder, Tenant::new("acme"), &config).await.unwrap();
    assert_eq!(bash(&acme).await.output().word(), "nothing");
}

#[tokio::test]
async fn files_cannot_change_the_operators_settings() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(&folder).build().unwrap();
    let config = json!({ "host": {
        "tenant": "other", "stateFile": "/srv/other.db", "maxInstances": 1000, "compile": { "seconds": 9999 },
        "llm": { "provider": "anthropic", "model": "m", "apiKeyEnv": "OPERATORS_KEY" } } });
    let acme = || Tenant::new("acme").ceiling(Ceiling::new());
    assert_eq!(
        beyond(load(&runtime, &folder, acme(), &config).await),
        ["tenant", "stateFile", "llm", "maxInstances", "compile"]
            .map(|key| format!("/host/{key}: `{key}` is for the operator to set; this is the file of tenant `acme`"))
    );
    // A single user may set both.
    assert!(load(&runtime, &folder, Tenant::new("acme"), &config).await.is_ok());
}

#[tokio::test]
async fn errors_name_the_exceeded_ceiling() {
    let folder = tempfile::tempdir().unwrap();
    component(&folder, "one.wasm", DENY);
    let runtime = runtime(&folder).build().unwrap();
    let ceiling = Ceiling::new()
        .authority(Authority { rewrite: Rewrite::Only(vec!["/cwd".into()]), ..Authority::gate() })
        .permissions(Permissions {
            http: vec![HttpGrant::Origin("https://api.example.com".into())],
            env: vec!["LANG".into()],
            ..Permissions::default()
        })
        .limits(Limits { fuel: 1_000, timeout: 2.0, ..Limits::default() });
    let message = |asks: &str, ceiling: &str| format!("asks for {asks}; the ceiling of tenant `acme` is {ceiling}");
    for (more, pointer, expected) in [
        (
            json!({ "authority": "trusted" }),
            "/authority",
            message("authority to allow, skip, respond, abort", "deny, ask"),
        ),
        (
            json!({ "authority": { "rewrite": ["/cwd/x", "/cwdx"] } }),
            "/authority",
            message("authority to rewrite /cwdx", "/cwd"),
        ),
        (json!({ "limits": { "fuel": 2_000 } }), "/limits/fuel", message("a `fuel` of 2000", "1000")),
        (json!({ "timeout": 5 }), "", message("a timeout of 5 s", "2 s")),
        (json!({ "permissions": { "state": true } }), "/permissions/state", message("state", "none")),
        (json!({ "permissions": { "llm": true } }), "/permissions/llm", message("the language model", "none")),
        (
            json!({ "permissions": { "http": ["https://api.example.com.evil.test"] } }),
            "/permissions/http/0",
            message(
                "GET/POST https://api.example.com.evil.test (up to 1024 KiB)",
                "GET/POST https://api.example.com (up to 1024 KiB)",
            ),
        ),
        (
            json!({ "permissions": { "http": [{ "origin": "https://api.example.com", "methods": ["DELETE"] }] } }),
            "/permissions/http/0",
            message(
                "DELETE https://api.example.com (up to 1024 KiB)",
                "GET/POST https://api.example.com (up to 1024 KiB)",
            ),
        ),
        (
            json!({ "permissions": { "env": ["LANG", "OPERATORS_KEY"] } }),
            "/permissions/env/1",
            message("the environment variable OPERATORS_KEY", "LANG"),
        ),
        (
            json!({ "permissions": { "read": { "/etc": "/etc" } } }),
            "/permissions/read/~1etc",
            message("permission to read /etc", "none"),
        ),
        (
            json!({ "component": "../other/one.wasm" }),
            "/component",
            message("the component ../other/one.wasm", "files in the folder of the configuration"),
        ),
        (json!({ "type": "command", "command": "id" }), "/type", message("handlers of type command", "wasm")),
        (json!({ "type": "agent", "prompt": "p" }), "/type", message("handlers of type agent", "wasm")),
    ] {
        let mut handler = json!({ "type": "wasm", "component": "one.wasm" });
        if more.get("type").is_some() {
            handler = more.clone();
        } else {
            handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        }
        let config = hooks(&json!([handler]));
        let tenant = Tenant::new("acme").ceiling(ceiling.clone());
        let found = beyond(load(&runtime, &folder, tenant, &config).await);
        assert_eq!(found.first(), Some(&format!("{HOOK}{pointer}: {expected}")), "{more}");
    }
    // The pointer of a limit for the whole file is that of the limit.
    let mut config = hooks(&json!([{ "type": "wasm", "component": "one.wasm" }]));
    config["limits"] = json!({ "fuel": 5_000 });
    let tenant = Tenant::new("acme").ceiling(ceiling.clone());
    assert_eq!(
        beyond(load(&runtime, &folder, tenant, &config).await),
        [format!("/limits/fuel: {}", message("a `fuel` of 5000", "1000"))]
    );
}

#[tokio::test]
async fn defaults_are_cut_to_the_ceiling() {
    let folder = tempfile::tempdir().unwrap();
    component(&folder, "allow.wasm", ALLOW);
    component(&folder, "spin.wasm", "(loop $again (br $again))");
    let runtime = runtime(&folder).build().unwrap();
    let ceiling = Ceiling::new().limits(Limits { fuel: 100_000, ..Limits::default() });
    let handlers = json!([
        { "type": "wasm", "component": "allow.wasm" },
        { "type": "wasm", "component": "spin.wasm", "onFailure": "ignore" },
    ]);
    let acme = load(&runtime, &folder, Tenant::new("acme").ceiling(ceiling), &hooks(&handlers)).await.unwrap();
    let verdict = bash(&acme).await;
    assert_eq!(verdict.output().word(), "nothing", "a gate does not allow");
    assert_eq!(verdict.hooks[0].run().unwrap().notes[0].text, "this hook may not allow");
    let failure = verdict.hooks[1].outcome().unwrap().clone().unwrap_err();
    assert_eq!(failure.to_string(), "out-of-fuel: used up its 100000 units of fuel");
    // Without a ceiling the file decides for itself. A component without an `authority` is still a gate.
    let own = load(&runtime, &folder, Tenant::new("acme"), &hooks(&json!([handlers[0]]))).await.unwrap();
    assert_eq!(bash(&own).await.output().word(), "nothing");
    let trusted = json!([{ "type": "wasm", "component": "allow.wasm", "authority": "trusted" }]);
    let own = load(&runtime, &folder, Tenant::new("acme"), &hooks(&trusted)).await.unwrap();
    assert_eq!(bash(&own).await.output().word(), "allow");
}

#[tokio::test]
async fn a_hooks_memory_is_limited_by_the_pool() {
    let folder = tempfile::tempdir().unwrap();
    component(&folder, "one.wasm", DENY);
    let runtime = runtime(&folder).max_memory_mib(32).build().unwrap();
    let config = |mib| hooks(&json!([{ "type": "wasm", "component": "one.wasm", "limits": { "memoryMiB": mib } }]));
    let error = load(&runtime, &folder, Tenant::new("acme"), &config(64)).await.unwrap_err().to_string();
    assert!(error.contains("may have 64 MiB of memory, and the runtime has room for 32 MiB"), "{error}");
    assert!(load(&runtime, &folder, Tenant::new("acme"), &config(32)).await.is_ok());
}

/// Components by name.
struct Uploaded(HashMap<&'static str, Vec<u8>>);

#[async_trait]
impl ComponentSource for Uploaded {
    async fn fetch(&self, wanted: &Wanted<'_>) -> Result<Vec<u8>, LoadError> {
        let unknown = || LoadError::Read { path: wanted.name.into(), error: io::ErrorKind::NotFound.into() };
        self.0.get(wanted.name).cloned().ok_or_else(unknown)
    }
}

#[tokio::test]
async fn an_embedder_supplies_components() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = guest::encode(&guest::gate(DENY, ""), guest::GATE, "");
    let runtime = runtime(&folder).components(Uploaded(HashMap::from([("guard@1", bytes)]))).build().unwrap();
    let config = |name| hooks(&json!([{ "type": "wasm", "component": name }]));
    let acme = load(&runtime, &folder, Tenant::new("acme"), &config("guard@1")).await.unwrap();
    assert_eq!(bash(&acme).await.output().word(), "deny");
    let error = load(&runtime, &folder, Tenant::new("acme"), &config("guard@2")).await.unwrap_err().to_string();
    assert!(error.contains("cannot read guard@2"), "{error}");
}

/// A handler that counts its calls. Its output is in the configuration.
struct Scripted {
    says: Result<HookOutput, String>,
    started: Arc<AtomicUsize>,
}

#[async_trait]
impl Handler for Scripted {
    async fn start(&self) -> Result<(), String> {
        self.started.fetch_add(1, Ordering::Relaxed);
        self.says.clone().map(drop)
    }

    fn health(&self) -> Result<(), String> {
        Err("tired".into())
    }

    async fn call(&self, _: Call<'_>) -> Run {
        Run::new(Ok(self.says.clone().unwrap()))
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.started.fetch_sub(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn an_embedder_supplies_a_handler_type() {
    let folder = tempfile::tempdir().unwrap();
    let started = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&started);
    let runtime = runtime(&folder)
        .handler("scripted", move |entry| {
            let says = entry.options.get("says").and_then(Value::as_str).ok_or("`says` is missing")?;
            let says = match says {
                "broken" => Err("it is broken".to_owned()),
                word => {
                    Ok(HookOutput::decided(hookbox::Decision::Deny, format!("{word} {} {}", entry.tenant, entry.name)))
                }
            };
            Ok(Arc::new(Scripted { says, started: Arc::clone(&counter) }))
        })
        .build()
        .unwrap();
    let config = |more: Value| {
        let mut handler = json!({ "type": "scripted", "name": "mine" });
        handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hooks(&json!([handler]))
    };
    let acme = load(&runtime, &folder, Tenant::new("acme"), &config(json!({ "says": "no" }))).await.unwrap();
    let verdict = bash(&acme).await;
    assert_eq!(verdict.output().reason.as_deref(), Some("no acme mine"));
    assert_eq!(&*verdict.hooks[0].name, "mine");
    assert_eq!(acme.health(), [("mine", "tired".to_owned())]);
    assert_eq!(started.load(Ordering::Relaxed), 1);
    drop(acme);
    assert_eq!(started.load(Ordering::Relaxed), 0, "dropping the set ends its handlers");
    for (more, expected) in [
        (json!({}), "`mine`: `says` is missing"),
        (json!({ "says": "broken" }), "`mine`: could not be started: it is broken"),
    ] {
        let error = load(&runtime, &folder, Tenant::new("acme"), &config(more)).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // Its authority is that of any hook, and a ceiling has to name its type.
    let gated = config(json!({ "says": "no", "authority": { "decide": ["ask"] } }));
    let gated = load(&runtime, &folder, Tenant::new("acme"), &gated).await.unwrap();
    assert_eq!(bash(&gated).await.output().word(), "ask");
    let tenant = || Tenant::new("acme").ceiling(Ceiling::new());
    assert_eq!(
        beyond(load(&runtime, &folder, tenant(), &config(json!({ "says": "no" }))).await),
        [format!("{HOOK}/type: asks for handlers of type scripted; the ceiling of tenant `acme` is wasm")]
    );
    // A reader without the runtime's types does not know it.
    let text = config(json!({ "says": "no" })).to_string();
    let errors = Config::parse(&text, Path::new("hooks.json"), None).unwrap_err().to_string();
    assert!(errors.contains("unknown word `scripted`"), "{errors}");
    assert!(matches!(
        Runtime::builder().handler("wasm", |_| Err(String::new())).build(),
        Err(BuildError::HandlerType(_))
    ));
}

/// Answers every request with 200, and keeps the requests.
#[derive(Clone, Default)]
struct Wire(Arc<Mutex<Vec<Exchange>>>);

#[async_trait]
impl HttpClient for Wire {
    async fn send(&self, exchange: Exchange) -> Result<HttpResponse, HttpError> {
        self.0.lock().unwrap().push(exchange);
        let body = br#"{"decision":"block","reason":"from the wire"}"#.to_vec();
        Ok(HttpResponse { status: 200, headers: Vec::new(), body })
    }
}

#[tokio::test]
async fn an_embedder_supplies_an_http_client() {
    let folder = tempfile::tempdir().unwrap();
    let wire = Wire::default();
    let runtime = runtime(&folder).http_client(wire.clone()).build().unwrap();
    let config = |url: &str| hooks(&json!([{ "type": "http", "url": url }]));
    let acme =
        load(&runtime, &folder, Tenant::new("acme"), &config("http://127.0.0.1:9/hook?key=secret")).await.unwrap();
    let verdict = bash(&acme).await;
    assert_eq!(verdict.output().reason.as_deref(), Some("from the wire"));
    assert_eq!(&*verdict.hooks[0].name, "127.0.0.1", "the rest of the URL may be secret");
    let asked = wire.0.lock().unwrap().pop().unwrap();
    assert_eq!((asked.method.as_str(), asked.reach), ("POST", Reach::Anywhere));
    // Under a ceiling the URL is untrusted: only granted origins and no private addresses.
    let granted = |origin: &str| {
        let permissions = Permissions { http: vec![HttpGrant::Origin(origin.into())], ..Permissions::default() };
        Tenant::new("acme").ceiling(Ceiling::new().handler("http").permissions(permissions))
    };
    let elsewhere = load(&runtime, &folder, granted("https://hooks.example.com"), &config("https://evil.test/x")).await;
    assert_eq!(
        beyond(elsewhere),
        [format!(
            "{HOOK}/url: asks for POST to https://evil.test; the ceiling of tenant `acme` is GET/POST \
             https://hooks.example.com (up to 1024 KiB)"
        )]
    );
    let private = load(&runtime, &folder, granted("*"), &config("http://127.0.0.1:9/hook")).await.unwrap();
    let failure = bash(&private).await.hooks[0].outcome().unwrap().clone().unwrap_err();
    assert_eq!(failure.cause, Cause::Http);
    let public = load(&runtime, &folder, granted("*"), &config("https://evil.test/x")).await.unwrap();
    bash(&public).await;
    let sent: Vec<Reach> = wire.0.lock().unwrap().iter().map(|exchange| exchange.reach).collect();
    assert_eq!(sent, [Reach::Public], "nothing was sent to the private address");
}

/// A model that denies everything.
struct No;

#[async_trait]
impl Model for No {
    async fn turn(&self, conversation: &Conversation) -> Result<Reply, LlmError> {
        assert!(conversation.tools.is_empty());
        let text = r#"{"ok":false,"reason":"the model says no"}"#.to_owned();
        Ok(Reply { text, calls: Vec::new(), tokens: Some(1), wire: Value::Null })
    }
}

#[tokio::test]
async fn an_embedder_supplies_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let config = hooks(&json!([{ "type": "prompt", "prompt": "May it? $ARGUMENTS" }]));
    let none = runtime(&folder).build().unwrap();
    let error = load(&none, &folder, Tenant::new("acme"), &config).await.unwrap_err().to_string();
    assert!(error.contains("needs a language model, and none is configured"), "{error}");
    let of_runtime = runtime(&folder).model(No).build().unwrap();
    for (runtime, tenant) in [(&of_runtime, Tenant::new("acme")), (&none, Tenant::new("acme").model(No))] {
        let acme = load(runtime, &folder, tenant, &config).await.unwrap();
        assert_eq!(bash(&acme).await.output().reason.as_deref(), Some("the model says no"));
    }
}

/// A store that keeps nothing and records the owners of deleted keys.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Store for Counting {
    async fn get(&self, _: &Space, _: &str) -> Result<Option<String>, StateError> {
        Ok(None)
    }
    async fn set(&self, _: &Space, _: &str, _: &str, _: Option<u64>) -> Result<(), StateError> {
        Ok(())
    }
    async fn delete(&self, space: &Space, key: &str) -> Result<bool, StateError> {
        self.0.lock().unwrap().push(format!("{} {} {key} of {}", space.tenant, space.namespace, space.max_keys));
        Ok(true)
    }
    async fn increment(&self, _: &Space, _: &str, by: i64, _: Option<u64>) -> Result<i64, StateError> {
        Ok(by)
    }
    async fn compare_and_swap(
        &self,
        _: &Space,
        _: &str,
        _: Option<&str>,
        _: &str,
        _: Option<u64>,
    ) -> Result<bool, StateError> {
        Ok(true)
    }
    async fn keys(&self, _: &Space, _: &str) -> Result<Vec<String>, StateError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn an_embedder_supplies_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let items = r#"(import "hookbox:hooks/state@0.2.0" "delete" (func $delete (param i32 i32 i32)))
                   (data (i32.const 4096) "seen")"#;
    let body = "(call $delete (i32.const 4096) (i32.const 4) (i32.const 8192))";
    let world = format!("import hookbox:hooks/state@0.2.0; {}", guest::GATE);
    fs::write(folder.path().join("state.wasm"), guest::encode(&guest::gate(body, items), &world, "")).unwrap();
    let store = Counting::default();
    let runtime = runtime(&folder).state(store.clone()).build().unwrap();
    let config = hooks(&json!([{ "type": "wasm", "component": "state.wasm", "permissions": { "state": true } }]));
    let most = StateDetails { max_keys: 7, ..StateDetails::default() };
    let permissions = Permissions { state: Some(StateGrant::Detailed(most)), ..Permissions::default() };
    let ceiling = Ceiling::new().permissions(permissions);
    for tenant in [Tenant::new("acme"), Tenant::new("other").ceiling(ceiling)] {
        let hooks = load(&runtime, &folder, tenant, &config).await.unwrap();
        let verdict = bash(&hooks).await;
        assert!(verdict.hooks[0].outcome().unwrap().is_ok(), "{verdict:?}");
    }
    assert_eq!(*store.0.lock().unwrap(), ["acme hook:state.wasm seen of 10000", "other hook:state.wasm seen of 7"]);
}

#[tokio::test]
async fn a_callback_is_a_hook_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(&folder).build().unwrap();
    let callback = |output: Value| {
        Callback::new("PreToolUse", move |_| {
            let output = output.clone();
            async move { Ok(output) }
        })
    };
    let set = async |callback: Callback| {
        let config = read(&runtime, folder.path(), &json!({}));
        HookSet::builder(&runtime, Tenant::new("acme"), config).callback(callback).load().await.unwrap()
    };
    let allow = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "allow" } });
    let verdict = bash(&set(callback(allow.clone()).name("mine").authority(Authority::gate())).await).await;
    assert_eq!((&*verdict.hooks[0].name, verdict.output().word()), ("mine", "nothing"));
    let never = Callback::new("PreToolUse", |_| std::future::pending()).timeout(Duration::from_millis(20));
    let verdict = bash(&set(never.on_timeout(FailurePolicy::Deny)).await).await;
    assert_eq!(verdict.output().word(), "deny");
    assert_eq!(verdict.hooks[0].outcome().unwrap().clone().unwrap_err().cause, Cause::Timeout);
    let broken = Callback::new("PreToolUse", |_| async { Err("no".to_owned()) }).on_failure(FailurePolicy::Ask);
    assert_eq!(bash(&set(broken).await).await.output().word(), "ask");
    assert!(bash(&set(callback(allow).matcher("Write")).await).await.hooks[0].run().is_none());
}

/// A monitored hook decides nothing, and the verdict includes the outcome if it were enforced.
#[tokio::test]
async fn a_monitored_hook_is_recorded_and_decides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    component(&folder, "deny.wasm", DENY);
    component(&folder, "allow.wasm", ALLOW);
    component(&folder, "trap.wasm", "(unreachable)");
    let runtime = runtime(&folder).build().unwrap();
    let hook = |name: &str, mode: Option<&str>| {
        let component = format!("{name}.wasm");
        let mut hook = json!({ "type": "wasm", "component": component, "authority": "trusted", "onFailure": "block" });
        if let Some(mode) = mode {
            hook["mode"] = json!(mode);
        }
        hook
    };
    let monitor = Some("monitor");
    for (of_file, handlers, decides, would_be) in [
        (None, json!([hook("deny", monitor)]), "nothing", Some("deny")),
        (None, json!([hook("allow", monitor)]), "nothing", Some("allow")),
        (None, json!([hook("trap", monitor)]), "nothing", Some("deny")),
        (None, json!([hook("allow", None), hook("deny", monitor)]), "allow", Some("deny")),
        (None, json!([hook("deny", None), hook("allow", monitor)]), "deny", Some("deny")),
        (None, json!([hook("deny", None)]), "deny", None),
        (monitor, json!([hook("deny", None)]), "nothing", Some("deny")),
        (monitor, json!([hook("deny", Some("enforce")), hook("allow", None)]), "deny", Some("deny")),
    ] {
        let mut config = hooks(&handlers);
        if let Some(mode) = of_file {
            config["mode"] = json!(mode);
        }
        let acme = load(&runtime, &folder, Tenant::new("acme"), &config).await.unwrap();
        let verdict = bash(&acme).await;
        let found = verdict.would_be.as_ref().map(|outcome| outcome.output.word());
        assert_eq!((verdict.output().word(), found), (decides, would_be), "{config}");
        let record = serde_json::to_value(verdict.record(acme.config(), b"{}")).unwrap();
        assert_eq!((&record["version"], &record["verdict"]), (&json!(1), &json!(decides)));
        assert_eq!(record.get("wouldBe"), would_be.map(|word| json!(word)).as_ref());
        for (hook, part) in verdict.hooks.iter().zip(record["hooks"].as_array().unwrap()) {
            assert_eq!(part.get("mode"), (hook.mode == Mode::Monitor).then(|| json!("monitor")).as_ref());
            assert!(hook.run().is_some(), "it still runs");
        }
        let told = serde_json::to_value(&verdict).unwrap();
        assert_eq!((&told["verdict"], &told["hooks"]), (&record["verdict"], &record["hooks"]));
    }
}

/// Labels leave the machine, but a command line or URL may contain secrets.
#[tokio::test]
async fn names_of_hooks_contain_no_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(&folder).model(No).build().unwrap();
    let handlers = json!([
        { "type": "command", "command": "TOKEN=abc ./hooks/check.sh --key=abc" },
        { "type": "command", "command": "/opt/bin/gate", "args": ["--key=abc"] },
        { "type": "http", "url": "https://user:abc@hooks.example.com/T0/abc" },
        { "type": "prompt", "prompt": "the key is abc" },
        { "type": "command", "command": "x", "name": "given" },
    ]);
    let acme = load(&runtime, &folder, Tenant::new("acme"), &hooks(&handlers)).await.unwrap();
    let names: Vec<&str> = acme.config().hooks.iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!(names, ["check.sh", "gate", "hooks.example.com", "prompt", "given"]);
}

#[tokio::test]
async fn granted_directories_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    component(&folder, "one.wasm", DENY);
    let runtime = runtime(&folder).build().unwrap();
    let all = BTreeMap::from([("/".to_owned(), folder.path().to_string_lossy().into_owned())]);
    let ceiling = Ceiling::new().permissions(Permissions { read: all, ..Permissions::default() });
    for (count, fits) in [(64, true), (65, false)] {
        let directory = |index: usize| {
            let name = format!("d{index}");
            std::fs::create_dir_all(folder.path().join(&name)).unwrap();
            (format!("/{name}"), json!(name))
        };
        let read: serde_json::Map<_, _> = (0..count).map(directory).collect();
        let hook = json!({ "type": "wasm", "component": "one.wasm", "permissions": { "read": read } });
        // Two hooks with the same directories share them.
        let config = hooks(&json!([hook, hook]));
        let loaded = load(&runtime, &folder, Tenant::new("acme").ceiling(ceiling.clone()), &config).await;
        if fits {
            loaded.unwrap();
        } else {
            let found = beyond(loaded);
            assert!(
                found.iter().all(|line| line.contains("64 different directories")) && !found.is_empty(),
                "{found:?}"
            );
        }
    }
}
