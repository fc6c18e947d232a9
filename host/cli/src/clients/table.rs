//! The clients that hookbox knows.

use super::{Above, Client, Form, Syntax};

/// Everything that hookbox itself reads. Also the syntax of clients that were not measured.
const LENIENT: Syntax = Syntax { comments: true, trailing_commas: true, byte_order_mark: true };
/// JSON and nothing else.
const STRICT: Syntax = Syntax { comments: false, trailing_commas: false, byte_order_mark: false };

/// The common values.
const CLIENT: Client = Client {
    name: "",
    title: "",
    dialect: "",
    programs: &[],
    form: Form::Groups,
    folders: &[],
    user_file: "settings.json",
    project_file: None,
    local_file: None,
    project_variable: None,
    milliseconds: false,
    shell: "Bash",
    patience: 60,
    syntax: LENIENT,
    above: Above::All,
};

/// Every client that `install` and `doctor` support.
pub static ALL: &[Client] = &[
    Client {
        name: "claude",
        title: "Claude Code",
        dialect: "claude",
        programs: &["claude"],
        folders: &[("CLAUDE_CONFIG_DIR", ""), ("HOME", ".claude")],
        project_file: Some(".claude/settings.json"),
        local_file: Some(".claude/settings.local.json"),
        project_variable: Some("CLAUDE_PROJECT_DIR"),
        syntax: Syntax { byte_order_mark: true, ..STRICT },
        above: Above::None,
        ..CLIENT
    },
    Client {
        name: "codebuddy",
        title: "CodeBuddy",
        dialect: "codebuddy",
        programs: &["codebuddy", "cbc"],
        folders: &[("HOME", ".codebuddy")],
        project_file: Some(".codebuddy/settings.json"),
        local_file: Some(".codebuddy/settings.local.json"),
        syntax: Syntax { byte_order_mark: false, ..LENIENT },
        above: Above::None,
        ..CLIENT
    },
    Client {
        name: "blade",
        title: "Blade",
        dialect: "blade@observed",
        programs: &["blade"],
        folders: &[("HOME", ".blade")],
        project_file: Some(".blade/settings.json"),
        local_file: Some(".blade/settings.local.json"),
        project_variable: Some("BLADE_PROJECT_DIR"),
        ..CLIENT
    },
    Client {
        name: "codex",
        title: "Codex CLI",
        dialect: "codex",
        programs: &["codex"],
        folders: &[("CODEX_HOME", ""), ("HOME", ".codex")],
        user_file: "hooks.json",
        patience: 600,
        project_file: Some(".codex/hooks.json"),
        syntax: STRICT,
        above: Above::Repository,
        ..CLIENT
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        dialect: "gemini",
        programs: &["gemini"],
        shell: "run_shell_command",
        folders: &[("GEMINI_CLI_HOME", ".gemini"), ("HOME", ".gemini")],
        project_file: Some(".gemini/settings.json"),
        project_variable: Some("GEMINI_PROJECT_DIR"),
        milliseconds: true,
        syntax: Syntax { comments: true, ..STRICT },
        above: Above::None,
        ..CLIENT
    },
    Client {
        name: "copilot",
        title: "GitHub Copilot CLI",
        dialect: "copilot",
        programs: &["copilot"],
        form: Form::Flat,
        patience: 30,
        folders: &[("COPILOT_HOME", ""), ("HOME", ".copilot")],
        user_file: "hooks/hookbox.json",
        project_file: Some(".github/hooks/hookbox.json"),
        project_variable: Some("COPILOT_PROJECT_DIR"),
        syntax: STRICT,
        above: Above::None,
        ..CLIENT
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        dialect: "opencode",
        programs: &["opencode"],
        shell: "bash",
        form: Form::Plugin,
        folders: &[("OPENCODE_CONFIG_DIR", ""), ("XDG_CONFIG_HOME", "opencode"), ("HOME", ".config/opencode")],
        user_file: "plugin/hookbox.ts",
        project_file: Some(".opencode/plugin/hookbox.ts"),
        ..CLIENT
    },
    Client {
        name: "picoclaw",
        title: "PicoClaw",
        dialect: "picoclaw",
        programs: &["picoclaw"],
        shell: "exec",
        form: Form::Process,
        folders: &[("PICOCLAW_HOME", ""), ("HOME", ".picoclaw")],
        user_file: "config.json",
        ..CLIENT
    },
];
