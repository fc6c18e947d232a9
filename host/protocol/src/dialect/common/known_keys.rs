//! Output fields that each dialect reads.
//!
//! These lists are a security boundary: the `extra` of a hook may not carry a field of its dialect's list, or it would
//! decide without the authority to do so. A field that a decoder reads belongs in the list of its dialect.

/// The fields that all dialects with Claude's form of output share, and those of one dialect.
macro_rules! claude_like {
    ($($own:literal),* $(,)?) => {
        &[
            "continue",
            "stopReason",
            "suppressOutput",
            "systemMessage",
            "decision",
            "reason",
            "hookEventName",
            $($own),*
        ]
    };
}

pub(crate) const CLAUDE: &[&str] = claude_like![
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "additionalContext",
    "updatedToolOutput",
    "updatedMCPToolOutput"
];

pub(crate) const CODEBUDDY: &[&str] =
    claude_like!["continue_", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"];

pub(crate) const BLADE: &[&str] = claude_like![
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "updatedPrompt",
    "updatedOutput",
    "additionalContext",
    "contextInjection",
    "env",
    "continueReason",
    "blockCompletion",
    "blockCompaction",
    "blockReason",
    "behavior",
    "message",
    "interrupt"
];

pub(crate) const BLADE_CALLBACK: &[&str] =
    &["action", "modifiedInput", "modifiedOutput", "reason", "behavior", "updatedInput", "message", "interrupt"];

pub(crate) const PICOCLAW: &[&str] = &["action", "reason", "approved", "request", "response", "call", "result"];

pub(crate) const COPILOT: &[&str] = &[
    "continue",
    "stopReason",
    "decision",
    "reason",
    "permissionDecision",
    "permissionDecisionReason",
    "modifiedArgs",
    "additionalContext",
    "behavior",
    "message",
    "interrupt",
    "modifiedResult",
    "modifiedPrompt",
    "modifiedTransformedPrompt",
    "modifiedResponse",
    "hookSpecificOutput",
    "updatedInput",
    "hookEventName",
];

pub(crate) const OPENCODE: &[&str] = claude_like![
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "updatedToolOutput",
    "updatedPrompt",
    "additionalContext"
];

pub(crate) const CODEX: &[&str] = claude_like![
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "additionalContext",
    "updatedToolOutput",
    "updatedMCPToolOutput"
];

pub(crate) const GEMINI: &[&str] = claude_like![
    "additionalContext",
    "tool_input",
    "llm_request",
    "llm_response",
    "permissionDecision",
    "updatedInput",
    "tool_output"
];
