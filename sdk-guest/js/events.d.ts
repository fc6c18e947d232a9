// Written by `just bindings` from the contract. Do not edit.

import type { Allow, Answer, Ask, Block, Deny, DenyPermission, Effects, Json, Pass, Respond, Skip } from "./index.js";

/** The context of every event. Fields that a dialect does not send are missing; `rawEvent()` is the untouched event. */
export interface EventContext {
  /** The hook protocol: `claude`, `codebuddy`, `blade`, `blade-callback` or `picoclaw`. */
  dialect: string;
  /** The event's name as the client wrote it, for example `PreToolUse` or `hook.before_tool`. */
  eventName: string;
  /** The id of the session. picoclaw: `meta.SessionKey`. */
  sessionId?: string;
  /** claude, codebuddy: the file with the conversation so far. */
  transcriptPath?: string;
  /** claude, codebuddy: the client's working directory. */
  cwd?: string;
  /** claude, codebuddy, blade: for example `default`, `acceptEdits`, `bypassPermissions`. */
  permissionMode?: string;
  /** blade: the project's directory. */
  projectDir?: string;
  /** blade: `hook_execution_id`, one per execution of the event. */
  executionId?: string;
  /** blade: `timestamp`; picoclaw events: `Time`. ISO 8601. */
  timestamp?: string;
  /** picoclaw: `meta.AgentID`; claude: the id of the subagent in which the event happened. */
  agentId?: string;
  /** claude: the tool call that started the subagent in which the event happened. */
  parentToolUseId?: string;
  /** picoclaw: `meta.TurnID`. */
  turnId?: string;
  /** picoclaw: `meta.ParentTurnID`, empty for a turn without a parent. */
  parentTurnId?: string;
  /** picoclaw: `meta.Iteration`, the model call within the turn, from 0. */
  iteration?: number;
  /** picoclaw: the channel of the conversation, for example `cli`. */
  channel?: string;
  /** picoclaw: the id of the conversation within the channel. */
  chatId?: string;
}

/** A tool call that is about to run, or that ran. */
export interface ToolCall {
  /** For example `Bash`, `mcp__server__action`; under picoclaw for example `exec`. */
  name: string;
  /** The tool's arguments. `null` where the dialect does not send them. */
  input: Json;
  /** claude, codebuddy, blade: the id that all events of one call share. */
  useId?: string;
  /**
   * The arguments before an earlier hook rewrote them, if the dialect has them: under blade-callback, picoclaw, copilot and
   * gemini, where hooks see each other's rewrites, and if the client sends them. Missing: not rewritten, or unknown.
   */
  originalInput?: Json;
}

export interface AfterLlmEvent {
  model: string;
  /** The answer: `content`, `tool_calls`, `finish_reason`, `usage`, … */
  response: Json;
}

export type AfterLlmOutput = Effects & {
  /** The complete new response. Missing members keep their value. */
  updatedResponse?: Json;
};

/** The model answered. picoclaw: `hook.after_llm`. */
export type OnAfterLlm = (event: AfterLlmEvent, context: EventContext) => Answer<AfterLlmOutput>;

export interface AgentEvent {
  /** For example `turn_start`, `tool_exec_end`; newer clients: `agent.tool.exec_start`. */
  kind: string;
  /** The data of the event; its form depends on the kind. */
  payload: Json;
}

/** A notification from the agent loop, without an answer. picoclaw: `hook.event`, `hook.runtime_event`. */
export type OnAgentEvent = (event: AgentEvent, context: EventContext) => Answer<void>;

export interface BeforeLlmEvent {
  model: string;
  /** Array of chat messages. */
  messages: Json;
  /** Array of tool definitions, or `null`. */
  tools: Json;
  /** Model parameters such as `temperature` and `max_tokens`, or `null`. */
  options: Json;
  gracefulTerminal?: boolean;
}

export type BeforeLlmOutput = Effects & {
  /** The complete new request: `model`, `messages`, `tools`, `options`. Missing members keep their value. */
  updatedRequest?: Json;
};

/** A request is about to go to the model. picoclaw: `hook.before_llm`. */
export type OnBeforeLlm = (event: BeforeLlmEvent, context: EventContext) => Answer<BeforeLlmOutput>;

export interface CanUseToolEvent {
  /** blade, blade-callback: `readonly`, `write` or `execute`; blade also `mcp`. */
  toolKind?: string;
  /** blade-callback. */
  affectedPaths: string[];
}

export type CanUseToolOutput = (Pass | Allow | Ask | DenyPermission) & Effects & {
  /** blade-callback: the complete new input of the tool. */
  updatedInput?: Json;
};

/**
 * The permission callback beside the hooks. blade, blade-callback. After `pass` and `ask` the client decides in its usual
 * way (under blade: by the permission-request hooks).
 */
export type OnCanUseTool = (call: ToolCall, event: CanUseToolEvent, context: EventContext) => Answer<CanUseToolOutput>;

export interface NotificationEvent {
  message?: string;
  title?: string;
  /**
   * For example `permission_prompt`, `idle_prompt`, `auth_success`, `elicitation_dialog`, blade also `info`,
   * `warning`, `error`.
   */
  notificationType?: string;
}

/** The agent notifies the user. claude, blade. */
export type OnNotification = (event: NotificationEvent, context: EventContext) => Answer<Effects>;

/** Any event without an interface, such as events that clients add later. `context.eventName` has its name. */
export type OnOtherEvent = (event: Json, context: EventContext) => Answer<Json>;

export interface PermissionRequestEvent {
  /** claude: `permission_suggestions`, an array of permission updates. */
  suggestions?: Json;
}

export type PermissionRequestOutput = (Pass | Allow | Ask | DenyPermission) & Effects & {
  /** claude: the complete new input of the tool. */
  updatedInput?: Json;
  /** claude: permission updates to apply with an `allow`. */
  updatedPermissions?: Json;
};

/** The user is about to be asked for a permission. claude, blade, blade-callback; picoclaw: `hook.approve_tool`. */
export type OnPermissionRequest = (call: ToolCall, event: PermissionRequestEvent, context: EventContext) => Answer<PermissionRequestOutput>;

export interface ToolFailure {
  error: string;
  /** blade. */
  errorType?: string;
  /** claude, blade: the user interrupted it. */
  isInterrupt?: boolean;
  /** blade. */
  isTimeout?: boolean;
}

/** A tool ran and failed. claude, blade, blade-callback. */
export type OnPostToolUseFailure = (call: ToolCall, failure: ToolFailure, context: EventContext) => Answer<Effects>;

export interface ToolOutput {
  /**
   * claude, codebuddy: `tool_response`; blade: `tool_output`; blade-callback: `toolOutput`; picoclaw: `result`, an
   * object with `for_llm`, `for_user`, `silent`, `is_error`, `async`, `media`, `artifact_tags`, `response_handled`.
   */
  value: Json;
  /** picoclaw: `duration`, the running time of the tool in nanoseconds. */
  durationNs?: number;
}

export type PostToolUseOutput = (Pass | Block) & Effects & {
  /** Replacement for the model. blade: `updatedOutput`; blade-callback: `modifiedOutput`; picoclaw: `result`. */
  updatedOutput?: Json;
};

/** A tool ran and succeeded. All dialects; picoclaw: `hook.after_tool`. */
export type OnPostToolUse = (call: ToolCall, output: ToolOutput, context: EventContext) => Answer<PostToolUseOutput>;

export interface PreCompactEvent {
  /** `manual` or `auto`. */
  trigger?: string;
  /** claude: the user's instructions for the summary. */
  customInstructions?: string;
  /** blade: messages before the compaction. */
  messagesBefore?: number;
  /** blade: tokens before the compaction. */
  tokensBefore?: number;
}

export type PreCompactOutput = (Pass | Block) & Effects;

/** The context is about to be compacted. claude, codebuddy; blade: `Compaction`. */
export type OnPreCompact = (event: PreCompactEvent, context: EventContext) => Answer<PreCompactOutput>;

export type PreToolUseOutput = (Pass | Allow | Ask | Deny | Skip | Respond) & Effects & {
  /**
   * The complete new input of the tool. claude, codebuddy, blade: `updatedInput`; blade-callback:
   * `modifiedInput`; picoclaw: `call.arguments`.
   */
  updatedInput?: Json;
  /** picoclaw: `call.tool`, another tool to run instead. */
  updatedTool?: string;
};

/** A tool is about to run. All dialects; picoclaw: `hook.before_tool`. */
export type OnPreToolUse = (call: ToolCall, context: EventContext) => Answer<PreToolUseOutput>;

export interface SessionEndEvent {
  /**
   * claude: `clear`, `logout`, `prompt_input_exit`, `bypass_permissions_disabled`, `other`; blade also `user_exit`,
   * `error`, `max_turns`, `idle_timeout`, `ctrl_c`.
   */
  reason?: string;
  /** blade. */
  totalTurns?: number;
  /** blade. */
  totalTokens?: number;
}

/** A session ends. claude, blade, blade-callback. */
export type OnSessionEnd = (event: SessionEndEvent, context: EventContext) => Answer<Effects>;

export interface SessionStartEvent {
  /** `startup`, `resume`, `clear` or `compact`; claude now also `fork`. */
  source?: string;
  /** blade. */
  isResume?: boolean;
  /** blade: the id of the resumed session. */
  resumeSessionId?: string;
}

export type SessionStartOutput = Effects & {
  /** blade: environment variables for the whole session. */
  env?: Record<string, string>;
};

/** A session begins or is resumed. All dialects except codebuddy and picoclaw. */
export type OnSessionStart = (event: SessionStartEvent, context: EventContext) => Answer<SessionStartOutput>;

export interface StopEvent {
  /** claude, codebuddy: true if a stop hook already made the agent continue; avoid a loop. */
  stopHookActive?: boolean;
  /** blade. */
  stopReason?: string;
  /** blade: `final_response`; claude: `last_assistant_message`. */
  finalResponse?: string;
}

export type StopOutput = (Pass | Block) & Effects;

/** The agent has finished its answer. claude, codebuddy, blade. */
export type OnStop = (event: StopEvent, context: EventContext) => Answer<StopOutput>;

export interface SubagentStartEvent {
  /** claude. */
  agentId?: string;
  /** For example `Explore`, `Plan`. */
  agentType?: string;
  /** blade. */
  taskDescription?: string;
  /** blade. */
  parentAgentId?: string;
}

/** A subagent begins. claude, blade. */
export type OnSubagentStart = (event: SubagentStartEvent, context: EventContext) => Answer<Effects>;

export interface SubagentStopEvent {
  /** claude, codebuddy: true if a stop hook already made this subagent continue; avoid a loop. */
  stopHookActive?: boolean;
  /** claude. */
  agentId?: string;
  agentType?: string;
  /** claude: the transcript of the subagent. */
  agentTranscriptPath?: string;
  /** blade. */
  taskDescription?: string;
  /** blade. */
  success?: boolean;
  /** blade. */
  resultSummary?: string;
  /** blade. */
  error?: string;
  /** claude: `last_assistant_message`. */
  finalResponse?: string;
}

export type SubagentStopOutput = (Pass | Block) & Effects;

/** A subagent has finished. claude, codebuddy, blade. */
export type OnSubagentStop = (event: SubagentStopEvent, context: EventContext) => Answer<SubagentStopOutput>;

export interface TaskCompletedEvent {
  taskId?: string;
  /** A short name of the task, if the client has one. */
  taskSubject?: string;
  taskDescription?: string;
  /** blade. */
  resultSummary?: string;
  /** blade. */
  success?: boolean;
}

export type TaskCompletedOutput = (Pass | Block) & Effects;

/**
 * A task is being marked as done. blade, blade-callback. (Claude's event of this name is not in its
 * specification and reaches a hook as other-event.)
 */
export type OnTaskCompleted = (event: TaskCompletedEvent, context: EventContext) => Answer<TaskCompletedOutput>;

export interface UserPromptSubmitEvent {
  /** blade: `user_prompt`; blade-callback: `message`. */
  prompt: string;
  /** blade. */
  hasImages?: boolean;
  /** blade. */
  imageCount?: number;
}

export type UserPromptSubmitOutput = (Pass | Block) & Effects & {
  /** blade: `updatedPrompt`, the text that the model sees instead. */
  updatedPrompt?: string;
};

/** The user sent a prompt that the model has not seen yet. All dialects except picoclaw. */
export type OnUserPromptSubmit = (event: UserPromptSubmitEvent, context: EventContext) => Answer<UserPromptSubmitOutput>;
