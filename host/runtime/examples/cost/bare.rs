//! The cost of the same call in wasmtime alone: instantiate, call, drop.

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
    component::{Component, Linker},
};

use self::hookbox::hooks::types::{EventContext, ToolCall};

wasmtime::component::bindgen!({
    path: "../../wit",
    inline: "package bench:bare; world guard { export hookbox:hooks/pre-tool-use@0.2.0; }",
    world: "bench:bare/guard",
    exports: { default: async },
});

/// Settings of the engine and the pool. Each has a cost.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools)]
pub struct Settings {
    pub fuel: bool,
    pub epoch: bool,
    pub copy_on_write: bool,
    pub pool: bool,
    /// Asks the system which pages were written.
    pub scan: bool,
    /// Bytes of a memory that stay resident between two calls.
    pub resident: usize,
}

impl Settings {
    /// hookbox's settings.
    pub const OURS: Self =
        Self { fuel: true, epoch: true, copy_on_write: true, pool: true, scan: true, resident: 512 << 10 };
}

pub struct Bare {
    engine: Engine,
    guard: GuardPre<()>,
    settings: Settings,
}

impl Bare {
    pub fn new(bytes: &[u8], settings: Settings) -> Self {
        let mut config = Config::new();
        config
            .consume_fuel(settings.fuel)
            .epoch_interruption(settings.epoch)
            .memory_init_cow(settings.copy_on_write)
            .native_unwind_info(cfg!(windows))
            .wasm_backtrace_max_frames(None);
        if settings.pool {
            let mut pool = PoolingAllocationConfig::new();
            pool.pagemap_scan(if settings.scan { Enabled::Auto } else { Enabled::No })
                .linear_memory_keep_resident(settings.resident)
                .table_keep_resident(settings.resident);
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        }
        let engine = Engine::new(&config).unwrap();
        let component = Component::new(&engine, bytes).unwrap();
        let guard = GuardPre::new(Linker::new(&engine).instantiate_pre(&component).unwrap()).unwrap();
        Self { engine, guard, settings }
    }

    pub async fn call(&self, command: &str) {
        let mut store = Store::new(&self.engine, ());
        if self.settings.fuel {
            store.set_fuel(50_000_000).unwrap();
        }
        if self.settings.epoch {
            store.set_epoch_deadline(1000);
        }
        let guard = self.guard.instantiate_async(&mut store).await.unwrap();
        let (context, call) = input(command);
        let said = guard.hookbox_hooks_pre_tool_use().call_handle(&mut store, &context, &call).await.unwrap();
        said.unwrap();
    }
}

fn input(command: &str) -> (EventContext, ToolCall) {
    let context = EventContext {
        dialect: "claude".into(),
        event_name: "PreToolUse".into(),
        session_id: Some("af2a5440-ca4c-4c5f-a38f-d11e4f215b70".into()),
        transcript_path: None,
        cwd: Some("/home/dev/project".into()),
        permission_mode: Some("default".into()),
        project_dir: None,
        execution_id: None,
        timestamp: None,
        agent_id: None,
        parent_tool_use_id: None,
        turn_id: None,
        parent_turn_id: None,
        iteration: None,
        channel: None,
        chat_id: None,
    };
    let input = serde_json::json!({ "command": command }).to_string();
    let use_id = Some("toolu_main_0_0".into());
    (context, ToolCall { name: "Bash".into(), input, use_id, original_input: None })
}
