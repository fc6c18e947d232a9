//! The stage for hostile guests: their description, the ways in which they may end, and the neighbour that must stay
//! unharmed.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use hookbox::{Cause, Event, EventKind, event::Input};
use hookbox_sandbox::{
    CallContext, Component, Engine, EngineOptions, Limits, LoadError, Permissions, Profile, Run,
    capability::Capabilities,
};

use hookbox_testing::guest;
use serde_json::json;

/// One engine for all guests, so that harm to it also harms the neighbour.
static ENGINE: LazyLock<Engine> = LazyLock::new(guest::engine);
/// The engine of a process that makes only a few calls. It has no pool, so its sandboxes use other memory.
static UNPOOLED: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(EngineOptions { profile: Profile::OneShot, ..EngineOptions::default() }).unwrap());
static NEIGHBOUR: LazyLock<Component> = LazyLock::new(|| {
    let bytes = guest::encode(&guest::gate("", ""), guest::GATE, "");
    Component::new(&ENGINE, &bytes, &Permissions::default(), Path::new(".")).unwrap()
});

/// The default timeout of a guest.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time of any test, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum memory of this process, besides the memory after its start (an emulator has tables of its own): 16 slots of
/// 64 MiB, the compiler, and the same again.
const MEMORY_KIB: u64 = 2 << 20;
pub static AT_FIRST_KIB: LazyLock<u64> = LazyLock::new(|| {
    LazyLock::force(&NEIGHBOUR);
    most_kib()
});

/// A hostile guest and its grants.
pub struct Guest {
    pub bytes: Vec<u8>,
    pub kind: EventKind,
    pub limits: Limits,
    pub timeout: Duration,
    pub permissions: Permissions,
    pub capabilities: Capabilities,
    pub folder: PathBuf,
}

impl Guest {
    pub fn of(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            kind: EventKind::PreToolUse,
            limits: Limits::default(),
            timeout: TIMEOUT,
            permissions: Permissions::default(),
            capabilities: Capabilities::default(),
            folder: PathBuf::from("."),
        }
    }

    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets a timeout in milliseconds, with more fuel than the guest can use in that time.
    pub fn until(self, milliseconds: u64) -> Self {
        let limits = Limits { fuel: 1 << 60, ..self.limits };
        Self { limits, timeout: Duration::from_millis(milliseconds), ..self }
    }

    pub fn granted(self, permissions: Permissions, folder: &Path) -> Self {
        Self { permissions, folder: folder.to_owned(), ..self }
    }

    pub fn load(&self) -> Result<Component, LoadError> {
        Component::new(&ENGINE, &self.bytes, &self.permissions, &self.folder)
    }

    /// Runs the guest on both engines and asserts that it ends in the same way.
    pub async fn run(self) -> Result<Run, LoadError> {
        let capabilities = Arc::new(self.capabilities);
        let mut runs = Vec::new();
        for engine in [&*ENGINE, &UNPOOLED] {
            let component = Component::new(engine, &self.bytes, &self.permissions, &self.folder)?;
            let capabilities = Arc::clone(&capabilities);
            let context = CallContext { capabilities, ..guest::context(self.limits.clone(), self.timeout) };
            runs.push(component.call(&event_of(self.kind), guest::claude(), context).await);
        }
        let causes = runs.iter().map(|run| run.result.as_ref().err().map(|failure| failure.cause)).collect::<Vec<_>>();
        assert!(causes[0] == causes[1], "{causes:?}");
        Ok(runs.swap_remove(0))
    }
}

/// A guest whose `handle` of `PreToolUse` has this body. `items` are further fields of the module.
pub fn gate(body: &str, items: &str) -> Guest {
    Guest::of(guest::encode(&guest::gate(body, items), guest::GATE, ""))
}

/// A guest as of [`gate`] with imports: those of its world, and their packages.
pub fn importing(body: &str, items: &str, imports: &str, packages: &str) -> Guest {
    Guest::of(guest::encode(&guest::gate(body, items), &format!("{imports} {}", guest::GATE), packages))
}

/// A guest as of [`gate`] for another event.
pub fn handling(kind: EventKind, body: &str, items: &str) -> Guest {
    let module = guest::gate(body, items).replace("pre-tool-use", kind.interface());
    let world = guest::GATE.replace("pre-tool-use", kind.interface());
    Guest { kind, ..Guest::of(guest::encode(&module, &world, "")) }
}

/// Writes bytes in the text format's escapes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "\\{byte:02x}").unwrap();
        hex
    })
}

/// Makes a guest of a component's text.
pub fn component(text: &str) -> Guest {
    Guest::of(wat::parse_str(text).unwrap())
}

pub fn event_of(kind: EventKind) -> Event {
    Event { name: kind.name().into(), input: Input::empty(kind), ..guest::event() }
}

/// The expected end of a guest.
pub enum End {
    /// The call fails with this cause, and the message has these words.
    Fails(Cause, &'static str),
    /// The guest does not load. It has this variant of [`LoadError`] and these words.
    Refused(&'static str, &'static str),
    /// The guest answers, and this holds for the run.
    Answers(fn(&Run) -> bool),
}

/// Writes a guest into a folder, with a table of what the packages for other languages must find. Leaves out guests that need
/// grants or an event of another kind.
fn lay_out(guest: &Guest, end: &End, folder: &Path) {
    if guest.kind != EventKind::PreToolUse || guest.permissions != Permissions::default() {
        return;
    }
    let thread = std::thread::current();
    let name = thread.name().unwrap().replace("::", "-");
    let cause = match end {
        End::Fails(cause, _) => Some(cause.word()),
        End::Refused(..) | End::Answers(_) => None,
    };
    let about = json!({
        "limits": guest.limits,
        "timeout": guest.timeout.as_secs_f64(),
        "cause": cause,
        "loads": !matches!(end, End::Refused(..)),
    });
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(format!("{name}.wasm")), &guest.bytes).unwrap();
    std::fs::write(folder.join(format!("{name}.json")), about.to_string()).unwrap();
}

/// Runs a guest and asserts its end, the time it took and the neighbour's health. With `HOSTILE_GUESTS`, writes it into that
/// folder instead.
pub async fn judge(guest: Guest, end: End) {
    if let Some(folder) = std::env::var_os("HOSTILE_GUESTS") {
        return lay_out(&guest, &end, Path::new(&folder));
    }
    LazyLock::force(&AT_FIRST_KIB);
    let begin = Instant::now();
    match (guest.run().await, end) {
        (Ok(Run { result: Err(failure), .. }), End::Fails(cause, words)) => {
            assert_eq!(failure.cause, cause, "{failure}");
            assert!(failure.message.contains(words), "{failure}");
            assert!(failure.message.len() < 4096, "a message of {} bytes", failure.message.len());
        }
        (Err(error), End::Refused(variant, words)) => {
            assert!(format!("{error:?}").starts_with(variant), "{error:?}");
            assert!(error.to_string().contains(words), "{error}");
        }
        (Ok(report), End::Answers(holds)) => assert!(report.result.is_ok() && holds(&report), "{report:?}"),
        (ended, _) => panic!("it ended otherwise: {ended:?}"),
    }
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    host_is_intact().await;
}

/// Asserts that an ordinary component on the same engine answers, and that the process did not grow too much.
pub async fn host_is_intact() {
    let context = guest::context(Limits::default(), PATIENCE);
    let report = NEIGHBOUR.call(&guest::event(), guest::claude(), context).await;
    assert_eq!(report.result, Ok(Box::default()));
    let kib = most_kib().saturating_sub(*AT_FIRST_KIB);
    assert!(kib < MEMORY_KIB, "{kib} KiB");
}

/// The peak memory of this process in KiB; 0 if the system does not report it.
fn most_kib() -> u64 {
    if cfg!(not(target_os = "linux")) {
        return 0;
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("what the process takes up");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Makes a test of each row, which is a guest and its expected end.
macro_rules! hostile {
    ($($(#[$doc:meta])* $name:ident: $guest:expr => $end:expr;)*) => {
        $($(#[$doc])* #[tokio::test] async fn $name() { $crate::stage::judge($guest, $end).await; })*
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

/// Makes a test of each function, for guests that need more than a row.
macro_rules! hostile_tests {
    ($($(#[$doc:meta])* async fn $name:ident() $body:block)*) => {
        $($(#[$doc])* #[tokio::test] async fn $name() {
            std::sync::LazyLock::force(&$crate::stage::AT_FIRST_KIB);
            $body;
            $crate::stage::host_is_intact().await;
        })*
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}
