//! Tenants that are not loaded: around a start, after an error, and while the file is missing.

use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, bash, closed, denies, hash, hooks, problem, read, tenant, token};

/// A component that compiles for many seconds and is different for every number. Each loop might change each variable.
fn bomb(number: usize) -> Vec<u8> {
    let reads: Vec<_> = (0..20_000 + number).map(|n| format!("local.get {n} drop ")).collect();
    let locals = " i32".repeat(20_000 + number);
    let (loops, ends) = ("loop ".repeat(3000), "end ".repeat(3000));
    wat::parse_str(format!("(component (core module (func (local{locals}) {loops}{}{ends})))", reads.concat())).unwrap()
}

/// A tenant whose component compiles slowly.
fn slow(files: &Files, name: &str, number: usize, fail_closed: bool) {
    fs::write(files.path(&format!("tenants/{name}.wasm")), bomb(number)).unwrap();
    let file = hooks(&format!("{name}.wasm"));
    files.write(&format!("tenants/{name}-hooks.json"), &if fail_closed { closed(file) } else { file });
    files.write(&format!("tenants/{name}.json"), &tenant(name));
}

/// Stops all compilers of a daemon until this value is dropped, which kills them. Meanwhile they use no processor time.
struct Stopped {
    ended: Arc<AtomicBool>,
    watcher: Option<JoinHandle<BTreeSet<i32>>>,
}

impl Stopped {
    fn compilers_of(daemon: &Daemon) -> Self {
        let (ended, parent) = (Arc::new(AtomicBool::new(false)), daemon.child.id().to_string());
        let end = Arc::clone(&ended);
        let watcher = std::thread::spawn(move || {
            let mut stopped = BTreeSet::new();
            while !end.load(Ordering::Relaxed) {
                let processes =
                    fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                for id in processes.filter_map(|name| name.parse::<i32>().ok()) {
                    let read = |file: &str| fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
                    // The format is "pid (name) state ppid". The part after the name has no parentheses.
                    let stat = read("stat");
                    let is_child = stat.rsplit(") ").next().is_some_and(|rest| rest.split(' ').nth(1) == Some(&parent));
                    if is_child && read("cmdline").contains("compile-component") {
                        let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::STOP);
                        stopped.insert(id);
                    }
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            stopped
        });
        Self { ended, watcher: Some(watcher) }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let stopped = self.watcher.take().and_then(|watcher| watcher.join().ok()).unwrap_or_default();
        for id in stopped {
            // Another process may have the id by now.
            let command = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
            if command.contains("compile-component") {
                let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::KILL);
            }
        }
    }
}

async fn ready(daemon: &Daemon) -> (u16, Value) {
    let response = daemon.client.get(daemon.url("/readyz")).send().await.unwrap();
    (response.status().as_u16(), read(response).await)
}

/// Sends an event to a tenant. Returns the status, and true for a block.
async fn answer(daemon: &Daemon, name: &str) -> (u16, bool) {
    let response = daemon.ask(name, bash("ls")).header("hookbox-timeout", "2").send().await.unwrap();
    let status = response.status().as_u16();
    (status, status == 200 && denies(&read(response).await))
}

const BLOCKED: (u16, bool) = (200, true);
const OPEN: (u16, bool) = (200, false);
const UNAVAILABLE: (u16, bool) = (503, false);
const STRANGER: (u16, bool) = (401, false);

#[tokio::test]
async fn a_loading_fail_closed_tenant_blocks_and_delays_nothing() {
    let mut daemon = Files::new().start();
    // The component is compiled from here on.
    assert_eq!(answer(&daemon, "acme").await, OPEN);
    // More tenants than the daemon loads at once.
    for number in 0..10 {
        slow(&daemon.files, &format!("slow{number}"), number, number % 2 == 0);
    }
    daemon.restart();
    let _stopped = Stopped::compilers_of(&daemon);
    let blocked = daemon.ask("slow0", bash("ls")).header("hookbox-timeout", "1").send().await.unwrap();
    assert_eq!(blocked.headers()["hookbox-problem"], "busy");
    assert!(denies(&read(blocked).await));
    let response = daemon.ask("slow1", bash("ls")).header("hookbox-timeout", "1").send().await.unwrap();
    assert_eq!(problem(response).await, (503, "busy".into()));
    // A client without a valid token gets its response at once, without details.
    let stranger = daemon.post("/v1/slow0/claude").bearer_auth("guess").body(bash("ls").to_string());
    assert_eq!(stranger.send().await.unwrap().status(), 401);
    // The other tenants are loaded, including new ones.
    assert_eq!(answer(&daemon, "acme").await, OPEN);
    daemon.files.write("tenants/later-hooks.json", &hooks("guard.wasm"));
    daemon.files.write("tenants/later.json", &tenant("later"));
    daemon.until("loaded", async || answer(&daemon, "later").await == OPEN).await;
    // Revocations apply, even for a tenant that is loading.
    for name in ["slow0", "slow1", "acme"] {
        let mut next = tenant(name);
        next["tokens"] = json!([hash("next")]);
        daemon.files.write(&format!("tenants/{name}.json"), &next);
        daemon.until("revoked", async || answer(&daemon, name).await == STRANGER).await;
    }
    fs::remove_file(daemon.files.path("tenants/slow2.json")).unwrap();
    daemon.until("gone", async || daemon.log().contains("its file was removed")).await;
    assert_eq!(answer(&daemon, "slow2").await, BLOCKED);
    // The slow tenants are still loading.
    let (status, told) = ready(&daemon).await;
    assert_eq!((status, &told["refused"], &told["ready"]), (503, &json!({}), &json!(false)), "{}", daemon.log());
    // The daemon exits without delay.
    daemon.signal("TERM");
    daemon.ends();
    assert!(!daemon.log().contains("is refused"), "{}", daemon.log());
}

#[tokio::test]
async fn after_a_restart_a_mistake_in_a_tenants_file_neither_opens_its_gate_nor_forgets_its_token() {
    let files = Files::new();
    for (name, fail_closed) in [("shut", true), ("open", false)] {
        files.write(&format!("tenants/{name}.json"), &tenant(name));
        let file = hooks("guard.wasm");
        files.write(&format!("tenants/{name}-hooks.json"), &if fail_closed { closed(file) } else { file });
    }
    let mut daemon = files.start();
    for name in ["shut", "open"] {
        assert_eq!(answer(&daemon, name).await, OPEN);
    }
    // The state is on disk, readable only by its user.
    let kept = || {
        let folder = fs::read_dir(daemon.files.path("hookbox")).unwrap().map(|entry| entry.unwrap().path());
        folder.filter(|path| path.to_str().is_some_and(|path| path.contains("tenants-")))
    };
    let known = || kept().next().map(|path| fs::read_to_string(path).unwrap()).unwrap_or_default();
    daemon.until("kept", async || known().contains("\"open\"") && known().contains("\"shut\"")).await;
    assert!(known().contains(&hash("shut")) && !known().contains(&token("shut")));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(kept().next().unwrap()).unwrap().permissions());
    assert_eq!(mode & 0o077, 0);
    let hash = hash("shut");
    let mistakes = [
        "{".to_owned(),
        String::new(),
        format!(r#"{{ "tokens": "{hash}", "hooks": {{}} }}"#),
        format!(r#"{{ "tokens": ["{hash}"], "hoks": {{}} }}"#),
        format!(r#"{{ "tokens": ["{hash}"], "hooks": {{ "claude": "shut-hooks.json" }}, }}"#),
    ];
    for mistake in &mistakes {
        daemon.files.write_text("tenants/shut.json", mistake);
        daemon.files.write_text("tenants/open.json", &mistake.replace(&hash, &crate::daemon::hash("open")));
        daemon.restart();
        daemon.until("refused", async || daemon.log().matches("is refused").count() == 2).await;
        assert_eq!(answer(&daemon, "shut").await, BLOCKED, "{mistake}");
        assert_eq!(answer(&daemon, "open").await, UNAVAILABLE, "{mistake}");
        let stranger = daemon.post("/v1/shut/claude").bearer_auth("guess").body(bash("ls").to_string());
        assert_eq!(stranger.send().await.unwrap().status(), 401, "{mistake}");
    }
    // The same for an invalid hooks file that no longer says `failClosed`.
    daemon.files.write("tenants/shut.json", &tenant("shut"));
    daemon.files.write_text("tenants/shut-hooks.json", "{ \"hooks\": ");
    daemon.restart();
    assert_eq!(answer(&daemon, "shut").await, BLOCKED);
    fs::remove_file(daemon.files.path("tenants/shut-hooks.json")).unwrap();
    daemon.restart();
    assert_eq!(answer(&daemon, "shut").await, BLOCKED);
    // A revocation applies if it can be read, even if the rest of the file is invalid.
    daemon.files.write_text("tenants/shut.json", r#"{ "tokens": [], "hoks": {} }"#);
    daemon.files.write_text("tenants/open.json", r#"{ "tokens": [], "hoks": {} }"#);
    daemon.until("revoked", async || answer(&daemon, "open").await == STRANGER).await;
}

#[tokio::test]
async fn a_missing_tenant_is_blocked_or_unavailable_then_unknown() {
    let files = Files::new();
    files.settings(json!({ "grace": 6 }));
    files.write("tenants/shut.json", &tenant("shut"));
    files.write("tenants/shut-hooks.json", &closed(hooks("guard.wasm")));
    let mut daemon = files.start();
    let serves = async |daemon: &Daemon| answer(daemon, "shut").await == OPEN && answer(daemon, "acme").await == OPEN;
    let is_away =
        async |daemon: &Daemon| answer(daemon, "shut").await == BLOCKED && answer(daemon, "acme").await == UNAVAILABLE;
    assert!(serves(&daemon).await);
    // The file is removed and written again. No old hooks answer in between.
    let (shut, acme) = (daemon.files.path("tenants/shut.json"), daemon.files.path("tenants/acme.json"));
    let texts = [&shut, &acme].map(|path| fs::read_to_string(path).unwrap());
    for path in [&shut, &acme] {
        fs::remove_file(path).unwrap();
    }
    daemon.until("away", async || is_away(&daemon).await).await;
    for (path, text) in [&shut, &acme].into_iter().zip(&texts) {
        fs::write(path, text).unwrap();
    }
    daemon.until("back", async || serves(&daemon).await).await;
    // A volume that is not mounted, as an empty or a missing folder, and also around a start.
    let (tenants, elsewhere) = (daemon.files.path("tenants"), daemon.files.path("elsewhere"));
    fs::rename(&tenants, &elsewhere).unwrap();
    daemon.until("away", async || is_away(&daemon).await).await;
    fs::create_dir(&tenants).unwrap();
    assert!(is_away(&daemon).await);
    daemon.restart();
    assert!(is_away(&daemon).await);
    assert_eq!(ready(&daemon).await.0, 503);
    fs::remove_dir(&tenants).unwrap();
    daemon.restart();
    assert!(is_away(&daemon).await);
    fs::rename(&elsewhere, &tenants).unwrap();
    daemon.until("back", async || serves(&daemon).await && ready(&daemon).await.0 == 200).await;
    // A tenant whose file stays missing is removed, even after a restart.
    fs::remove_file(&shut).unwrap();
    daemon.until("forgotten", async || answer(&daemon, "shut").await == STRANGER).await;
    assert_eq!(answer(&daemon, "acme").await, OPEN);
    daemon.restart();
    assert_eq!(answer(&daemon, "shut").await, STRANGER);
}

#[tokio::test]
async fn placeholders_are_not_tokens() {
    let files = Files::new();
    let examples = [
        "sha256:0000000000000000000000000000000000000000000000000000000000000000",
        // `test`
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ];
    for (number, hash) in examples.iter().enumerate() {
        let name = format!("example{number}");
        files.write(
            &format!("tenants/{name}.json"),
            &json!({ "tokens": [hash], "hooks": { "claude": "acme-hooks.json" } }),
        );
    }
    let daemon = files.start();
    assert_eq!(answer(&daemon, "acme").await, OPEN);
    for name in ["example0", "example1"] {
        let request = daemon.post(&format!("/v1/{name}/claude")).bearer_auth("test").body(bash("ls").to_string());
        assert_eq!(problem(request.send().await.unwrap()).await.0, 401);
    }
    daemon.until("told", async || daemon.log().matches("`hookbox token` prints a new one").count() == 2).await;
}

#[test]
fn the_files_that_people_start_from_have_no_token() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in
        ["README.md", "docs/serving.md", "docs/operate.md", "deploy/README.md", "deploy/kubernetes/hookbox.yaml"]
    {
        let text = fs::read_to_string(root.join(file)).unwrap();
        for part in text.split("sha256:").skip(1) {
            let hash: String = part.chars().take_while(char::is_ascii_hexdigit).collect();
            assert!(hash.len() < 64, "{file}: {hash}");
        }
    }
}
