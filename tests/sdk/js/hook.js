// The hook of tests/sdk: see the README there.
import {
  BadInput, allow, ask, block, config, deny, endSession, endTurn, http, llm, log, pass, rawEvent, respond, skip, state,
} from "@hookbox/guest";

const HOUR = { ttlMs: 3_600_000 };
const text = (value) => value ?? "";
const flag = (value) => String(value ?? false);
const number = (value) => String(value ?? "-");
const fields = (...values) => values.join("|");

const tools = {
  allow: (call) => ({ ...allow("fine"), updatedInput: { ...call.input, command: "ls -l" } }),
  ask: () => ask("sure?"),
  skip: () => skip("left out"),
  deny: (call) => deny(call.input.command),
  respond: () => respond({ forLlm: "instead", forUser: "shown", silent: true, isError: true, extra: { media: ["m"] } }),
  reroute: () => ({ ...allow(), updatedTool: "other" }),
  rewrite: () => ({ ...allow(), updatedInput: { a: [1, 2.5, null, true, "é"] } }),
  effects: () => ({ context: "one", systemMessage: "warned", suppressOutput: true, extra: { odd: 1 } }),
  turn: () => endTurn("enough"),
  session: () => endSession("over"),
  call: (call) => ({
    context: fields(call.name, text(call.input.command), text(call.useId), text(call.originalInput?.command)),
  }),
  context(_, context) {
    log.info(
      fields(
        context.dialect,
        context.eventName,
        text(context.sessionId),
        text(context.transcriptPath),
        text(context.cwd),
        text(context.permissionMode),
        text(context.projectDir),
        text(context.executionId),
        text(context.timestamp),
        text(context.agentId),
        text(context.parentToolUseId),
        text(context.turnId),
        text(context.parentTurnId),
        number(context.iteration),
        text(context.channel),
        text(context.chatId),
      ),
    );
  },
  log() {
    log.debug("one é");
    log.info("two");
    log.warn("three");
    log.error("four");
  },
  config() {
    const { greeting, nested } = config.get();
    return { context: fields(greeting, nested.number) };
  },
  raw: () => ({ context: rawEvent().odd }),
  count: () => ({ context: String(state.increment("count")) }),
  kept() {
    state.set("kept", "1", HOUR);
    state.increment("window", 1, HOUR);
  },
  state() {
    const before = state.get("a") ?? "-";
    state.set("a", "é");
    return {
      context: fields(
        before,
        state.get("a") ?? "-",
        state.increment("n", 5),
        state.increment("n", -2),
        state.compareAndSwap("a", "x", "y"),
        state.compareAndSwap("a", "é", "z"),
        state.compareAndSwap("b", undefined, "1"),
        state.keys(),
        state.delete("a"),
        state.delete("a"),
      ),
    };
  },
  dump: () => ({ context: state.keys().map((key) => `${key}=${state.get(key)}`).join(",") }),
  "not-a-number"() {
    state.set("t", "x");
    try {
      state.increment("t");
    } catch (error) {
      if (error.code === "not-a-number") return { context: "not a number" };
    }
  },
  http(call) {
    const response = http.postJson(call.input.url, { a: "é" }, { "x-a": "1" });
    return { context: fields(response.status, text(response.header("x-answer")), response.text()) };
  },
  "http-denied"() {
    try {
      http.get("https://nowhere.example/");
    } catch (error) {
      if (error.code === "denied") return { context: "denied" };
    }
  },
  llm: () => ({ context: llm.complete({ user: "why?", system: "be short", maxTokens: 20 }) }),
  fail() {
    throw new Error("it broke");
  },
  "bad-input"() {
    throw new BadInput("not mine");
  },
};

export const onPreToolUse = (call, context) => (Object.hasOwn(tools, call.name) ? tools[call.name](call, context) : pass());

export function onPostToolUse(call, output) {
  if (call.name === "block") return block("bad output");
  if (call.name === "rewrite") return { updatedOutput: call.input };
  return { context: fields(call.name, text(output.value.stdout), number(output.durationNs)) };
}

export const onPostToolUseFailure = (call, { error, errorType, isInterrupt, isTimeout }) => ({
  context: fields(call.name, error, text(errorType), flag(isInterrupt), flag(isTimeout)),
});

export function onPermissionRequest(call, { suggestions }) {
  switch (call.name) {
    case "allow":
      return { ...allow(), updatedInput: { command: "ls -l" }, updatedPermissions: suggestions };
    case "ask":
      return ask("sure?");
    case "interrupt":
      return { ...deny("never"), interrupt: true };
    case "deny":
      return deny("no");
  }
}

export function onCanUseTool(call, { toolKind, affectedPaths }) {
  switch (call.name) {
    case "allow":
      return { ...allow("fine"), updatedInput: { command: "ls -l" } };
    case "ask":
      return ask();
    case "interrupt":
      return { ...deny("never"), interrupt: true };
    default:
      return deny(fields(text(toolKind), affectedPaths));
  }
}

export function onUserPromptSubmit({ prompt, hasImages, imageCount }) {
  if (prompt === "block") return block("not that");
  if (prompt === "rewrite") return { updatedPrompt: "rewritten" };
  return { context: fields(prompt, flag(hasImages), number(imageCount)) };
}

export const onSessionStart = ({ source, isResume, resumeSessionId }) => ({
  context: fields(text(source), flag(isResume), text(resumeSessionId)),
  env: { A: "1", B: "é" },
});

export function onSessionEnd({ reason, totalTurns, totalTokens }) {
  log.info(fields(text(reason), number(totalTurns), number(totalTokens)));
}

export const onNotification = ({ message, title, notificationType }) => ({
  systemMessage: fields(text(message), text(title), text(notificationType)),
});

export const onSubagentStart = (event) => ({
  context: fields(text(event.agentId), text(event.agentType), text(event.taskDescription), text(event.parentAgentId)),
});

export function onSubagentStop(event) {
  if (event.stopHookActive) return pass();
  const { agentId, agentType, agentTranscriptPath, taskDescription, success, resultSummary, error, finalResponse } = event;
  const before = [agentId, agentType, agentTranscriptPath, taskDescription].map(text);
  return block(fields(...before, flag(success), text(resultSummary), text(error), text(finalResponse)));
}

export const onStop = ({ stopHookActive, stopReason, finalResponse }) =>
  stopHookActive ? pass() : block(fields(text(stopReason), text(finalResponse)));

export function onPreCompact({ trigger, customInstructions, messagesBefore, tokensBefore }) {
  if (trigger !== "auto") return pass();
  return block(fields(trigger, text(customInstructions), number(messagesBefore), number(tokensBefore)));
}

export const onTaskCompleted = (event) =>
  block(
    fields(text(event.taskId), text(event.taskSubject), text(event.taskDescription), text(event.resultSummary), flag(event.success)),
  );

export function onBeforeLlm({ model, messages, tools, options, gracefulTerminal }) {
  log.info(fields(text(messages[0]?.content), text(tools?.[0]?.name), text(options?.mode), flag(gracefulTerminal)));
  return { updatedRequest: { model: `${model}-small` } };
}

export function onAfterLlm({ model, response }) {
  log.info(model);
  return { updatedResponse: { content: `clean ${text(response.content)}` } };
}

export function onAgentEvent({ kind, payload }) {
  log.info(fields(kind, text(payload?.name)));
}

export function onOtherEvent(event, { eventName }) {
  if (!event.quiet) return { systemMessage: `${eventName} ${text(event.word)}` };
}
