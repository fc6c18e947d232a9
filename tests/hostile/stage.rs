//! Where hostile guests appear: what one is, how it may end, and the neighbour that must not notice.

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

/// One engine for all of them, so that whoever harms it harms the neighbours.
static ENGINE: LazyLock<Engine> = LazyLock::new(guest::engine);
/// One as a process has it that makes a few calls: without a pool, in which sandboxes have other memory.
static UNPOOLED: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(EngineOptions { profile: Profile::OneShot, ..EngineOptions::default() }).unwrap());
static NEIGHBOUR: LazyLock<Component> = LazyLock::new(|| {
    let bytes = guest::encode(&guest::gate("", ""), guest::GATE, "");
    Component::new(&ENGINE, &bytes, &Permissions::default(), Path::new(".")).unwrap()
});

/// The timeout of a guest that names none.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long anything may take, on a machine that is busy with other tests: nothing here hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// The memory this process may ever have had beside what the engine begins with, for which an emulator has tables of its own:
/// 16 places of 64 MiB, the compiler, and as much again.
const MEMORY_KIB: u64 = 2 << 20;
pub static AT_FIRST_KIB: LazyLock<u64> = LazyLock::new(|| {
    LazyLock::force(&NEIGHBOUR);
    most_kib()
});

/// A hostile guest and what it is given.
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

    /// So many milliseconds, and more fuel than can be used in them.
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

    /// Ends the same way on both engines.
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

/// A guest whose `handle` of `PreToolUse` has this body; `items` are further fields of the module.
pub fn gate(body: &str, items: &str) -> Guest {
    Guest::of(guest::encode(&guest::gate(body, items), guest::GATE, ""))
}

/// As [`gate`], with imports: a world's, and the packages they come from.
pub fn importing(body: &str, items: &str, imports: &str, packages: &str) -> Guest {
    Guest::of(guest::encode(&guest::gate(body, items), &format!("{imports} {}", guest::GATE), packages))
}

/// As [`gate`], for another event.
pub fn handling(kind: EventKind, body: &str, items: &str) -> Guest {
    let module = guest::gate(body, items).replace("pre-tool-use", kind.interface());
    let world = guest::GATE.replace("pre-tool-use", kind.interface());
    Guest { kind, ..Guest::of(guest::encode(&module, &world, "")) }
}

/// These bytes as the text format writes them.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "\\{byte:02x}").unwrap();
        hex
    })
}

/// A whole component as text.
pub fn component(text: &str) -> Guest {
    Guest::of(wat::parse_str(text).unwrap())
}

pub fn event_of(kind: EventKind) -> Event {
    Event { name: kind.name().into(), input: Input::empty(kind), ..guest::event() }
}

/// How a guest must end.
pub enum End {
    /// The call fails, and says this about it.
    Fails(Cause, &'static str),
    /// It does not load, for this variant of [`LoadError`], and says this about it.
    Refused(&'static str, &'static str),
    /// It answers, and this holds of the answer.
    Answers(fn(&Run) -> bool),
}

/// Lets a guest do what it does, and sees how it and its neighbour are.
pub async fn judge(guest: Guest, end: End) {
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

/// An honest component on the same engine still answers, and the process has not swollen.
pub async fn host_is_intact() {
    let context = guest::context(Limits::default(), PATIENCE);
    let report = NEIGHBOUR.call(&guest::event(), guest::claude(), context).await;
    assert_eq!(report.result, Ok(Box::default()));
    let kib = most_kib().saturating_sub(*AT_FIRST_KIB);
    assert!(kib < MEMORY_KIB, "{kib} KiB");
}

/// The most that this process had of memory so far; 0 where the system does not tell.
fn most_kib() -> u64 {
    if cfg!(not(target_os = "linux")) {
        return 0;
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("what the process takes up");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Each row is a guest, and a test of its own.
macro_rules! hostile {
    ($($(#[$doc:meta])* $name:ident: $guest:expr => $end:expr;)*) => {
        $($(#[$doc])* #[tokio::test] async fn $name() { $crate::stage::judge($guest, $end).await; })*
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

/// As [`hostile!`], for guests that take more than a row.
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
