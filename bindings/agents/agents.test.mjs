// Adapters of the package for Node.js in real agents. GUARD is the command guard, MODEL the stand-in for a model, PAGE the page of the
// documentation whose program is run, SAMPLES recorded inputs of the SDK's callbacks.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, beforeEach, test } from "node:test";

import { HOOK_EVENTS, query } from "@anthropic-ai/claude-agent-sdk";
import { Agent, OpenAIChatCompletionsModel, Runner, tool as openaiTool } from "@openai/agents";
import { generateText, stepCountIs, tool as aiTool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import OpenAI from "openai";
import { z } from "zod";

import { HookboxError, Runtime } from "@hookbox/runtime";
import { guardTools } from "@hookbox/runtime/adapters/ai-sdk";
import { EVENTS, bladeHooks } from "@hookbox/runtime/adapters/blade-agent-sdk";
import { claudeCanUseTool, claudeHooks } from "@hookbox/runtime/adapters/claude-agent-sdk";
import { inputGuardrail, outputGuardrail } from "@hookbox/runtime/adapters/openai-agents";

const REFUSED = "`rm -rf` is not allowed here";
const env = (/** @type {string} */ name) => /** @type {string} */ (process.env[name]);

const runtime = await Runtime.open();
const folders = /** @type {string[]} */ ([]);
let folder = "";
let precious = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hookbox-"));
  precious = join(folder, "precious");
  mkdirSync(precious);
  copyFileSync(env("GUARD"), join(folder, "guard.wasm"));
  folders.push(folder);
});
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })));

const guarded = {
  failClosed: true,
  hooks: { PreToolUse: [{ matcher: "Bash|run", hooks: [{ type: "wasm", component: "guard.wasm" }] }] },
};

/**
 * A model that makes these calls, one after the other.
 * @type {<T>(calls: [string, object][], use: (url: string) => Promise<T>) => Promise<T>}
 */
async function model(calls, use) {
  const given = calls.flatMap(([tool, input]) => [tool, JSON.stringify(input)]);
  const child = spawn("python3", [env("MODEL"), ...given], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    for await (const url of createInterface(child.stdout)) return await use(url);
    throw new Error("the model did not start");
  } finally {
    child.kill();
  }
}

/** The agent's environment: no account, no settings, no traffic but to the model. @type {(url: string) => Record<string, string | undefined>} */
const environment = (url) => ({
  ...process.env,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: "none",
  CLAUDE_CONFIG_DIR: join(folder, "claude"),
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
});

/** @type {(...commands: string[]) => [string, object][]} */
const bash = (...commands) => commands.map((command) => ["Bash", { command, description: "Do it" }]);

/** @type {(...texts: string[]) => AsyncGenerator<import("@anthropic-ai/claude-agent-sdk").SDKUserMessage>} */
async function* say(...texts) {
  for (const text of texts) yield { type: "user", message: { role: "user", content: text }, parent_tool_use_id: null };
}

/** @type {(calls: [string, object][], options: import("@anthropic-ai/claude-agent-sdk").Options, ...prompts: string[]) => Promise<string>} */
const runClaude = (calls, options, ...prompts) =>
  model(calls, async (url) => {
    const told = [];
    const all = { cwd: folder, settingSources: [], env: environment(url), ...options };
    for await (const message of query({ prompt: say("Clean up.", ...prompts), options: all })) {
      if (message.type === "result" && "result" in message) told.push(message.result);
    }
    return told.join("\n");
  });

test("a component guards an agent of the Claude Agent SDK", async () => {
  const hooks = await runtime.load(guarded, { folder });
  const told = await runClaude(bash(`rm -rf ${precious}`), { hooks: claudeHooks(hooks), allowedTools: ["Bash"] });
  assert(told.includes(REFUSED), told);
  assert(existsSync(precious));
  // The agent does what the model asks for where no hook denies it.
  await runClaude(bash(`rm -rf ${precious}`), { allowedTools: ["Bash"] });
  assert(!existsSync(precious));
});

test("a hook set that cannot be asked blocks", async () => {
  const hooks = await runtime.load(guarded, { folder });
  const options = { hooks: claudeHooks(hooks), allowedTools: ["Bash"] };
  await hooks.close();
  await runClaude(bash(`rm -rf ${precious}`), options);
  assert(existsSync(precious));
});

test("every event of the Claude Agent SDK", async () => {
  const seen = /** @type {string[]} */ ([]);
  const see = (/** @type {any} */ event) => void seen.push(event.hook_event_name);
  const hooks = await runtime.load({}, { hooks: HOOK_EVENTS.map((event) => ({ event, run: see })) });
  const options = claudeHooks(hooks);
  assert.deepEqual(new Set(Object.keys(options)), new Set(HOOK_EVENTS));
  const files = readdirSync(env("SAMPLES")).filter((file) => file.endsWith(".json"));
  for (const file of files) {
    const input = JSON.parse(readFileSync(join(env("SAMPLES"), file), "utf8"));
    const event = /** @type {keyof typeof options} */ (file.slice(0, -5));
    const callback = options[event]?.[0]?.hooks[0];
    assert.deepEqual(await callback?.(input, undefined, { signal: new AbortController().signal }), {}, file);
    assert.equal(seen.pop(), event);
  }
  seen.length = 0;
  // A session that has each of them: a subagent, a tool that works, one that fails, one that needs permission, and a compaction.
  const agent = { description: "Ask", prompt: "Only answer.", subagent_type: "general-purpose", run_in_background: false };
  const calls = /** @type {[string, object][]} */ ([["Agent", agent], ...bash("true", "false", "touch asked")]);
  const allowed = { allowedTools: ["Agent", "Bash(true)", "Bash(false)"] };
  await runClaude(calls, { hooks: options, ...allowed, canUseTool: async () => ({ behavior: "allow" }) }, "/compact");
  const unseen = files.map((file) => file.slice(0, -5)).filter((event) => !seen.includes(event));
  assert.deepEqual(unseen, []);
});

test("what hooks say is done in an agent of the Claude Agent SDK", async () => {
  /** @type {(name: string, specific: object) => object} */
  const says = (name, specific) => ({ hookSpecificOutput: { hookEventName: name, ...specific } });
  /** @type {(made: Record<string, (event: any) => object | undefined>, command: string, options?: object) => Promise<string>} */
  const run = async (made, command, options = { allowedTools: ["Bash"] }) => {
    const hooks = Object.entries(made).map(([event, run]) => ({ event, run, name: event }));
    const set = await runtime.load({ failClosed: true }, { hooks });
    return runClaude(bash(command), { hooks: claudeHooks(set), ...options });
  };
  const remove = `rm -r ${precious}`;
  const mark = (/** @type {string} */ name) => join(folder, name);

  await run({ UserPromptSubmit: () => ({ decision: "block", reason: "not today" }) }, remove);
  assert(existsSync(precious), "UserPromptSubmit");
  // Claude Code lets the tool run, and then ends the turn.
  assert.equal(await run({ PreToolUse: () => ({ continue: false, stopReason: "enough" }) }, "true"), "");
  await run({ PreToolUse: () => says("PreToolUse", { permissionDecision: "allow", updatedInput: { command: `touch ${mark("other")}` } }) }, remove);
  assert(existsSync(precious) && existsSync(mark("other")), "updatedInput");
  const withheld = await run({ PostToolUse: () => says("PostToolUse", { updatedToolOutput: { stdout: "***", stderr: "", interrupted: false } }) }, "echo secret-42");
  assert(withheld.includes("***") && !withheld.includes("secret-42"), withheld);
  let stops = 0;
  await run({ Stop: (event) => (stops++, event.stop_hook_active ? undefined : { decision: "block", reason: "go on" }) }, "true");
  assert.equal(stops, 2, "Stop");
  const thrown = await run({ PreToolUse: () => { throw new Error("broken"); } }, remove);
  assert(existsSync(precious), thrown);

  // Where no rule allows the call, hooks of `PermissionRequest` answer for the user.
  await run({ PermissionRequest: () => says("PermissionRequest", { decision: { behavior: "deny", message: "no" } }) }, remove, {});
  assert(existsSync(precious), "PermissionRequest denies");
  await run({ PermissionRequest: () => says("PermissionRequest", { decision: { behavior: "allow" } }) }, remove, {});
  assert(!existsSync(precious), "PermissionRequest allows");
});

test("canUseTool of the Claude Agent SDK", async () => {
  const decide = (/** @type {any} */ event) => {
    const decision = { ls: { behavior: "allow", updatedInput: { command: "ls -l" } }, rm: { behavior: "deny", message: "never" } };
    const found = decision[/** @type {"ls"} */ (event.tool_input.command)];
    return found && { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: found } };
  };
  const hooks = await runtime.load({}, { hooks: [{ event: "PermissionRequest", run: decide }] });
  const context = { signal: new AbortController().signal, toolUseID: "toolu_01", requestId: "1" };
  const blade = await runtime.load({}, { dialect: "blade-callback@observed" });
  const ask = claudeCanUseTool(hooks);
  assert.deepEqual(await ask("Bash", { command: "ls" }, context), { behavior: "allow", updatedInput: { command: "ls -l" } });
  assert.deepEqual(await ask("Bash", { command: "rm" }, context), { behavior: "deny", message: "never" });
  assert.equal((await ask("Bash", { command: "?" }, context))?.behavior, "deny");
  const kind = claudeCanUseTool(hooks, { otherwise: async (_, updatedInput) => ({ behavior: "allow", updatedInput }) });
  assert.equal((await kind("Bash", { command: "?" }, context))?.behavior, "allow");
  // A hook that ends the turn does so whatever `otherwise` says.
  const ends = await runtime.load({}, { hooks: [{ event: "PermissionRequest", run: () => ({ continue: false, stopReason: "enough" }) }] });
  const ended = await claudeCanUseTool(ends, { otherwise: async () => ({ behavior: "allow" }) })("Bash", { command: "ls" }, context);
  assert.deepEqual(ended, { behavior: "deny", message: "enough", interrupt: true });
  assert.throws(() => claudeCanUseTool(blade), /dialect claude/);
  assert.throws(() => claudeHooks(blade), /dialect claude/);

  // In the agent, which asks if no rule allows the call.
  const nothing = await runtime.load({});
  await runClaude(bash(`rm -r ${precious}`), { canUseTool: claudeCanUseTool(nothing) });
  assert(existsSync(precious));
  const guard = [{ hooks: [{ type: "wasm", component: "guard.wasm" }] }];
  const set = await runtime.load({ failClosed: true, hooks: { PermissionRequest: guard } }, { folder });
  const canUseTool = claudeCanUseTool(set, { otherwise: async () => ({ behavior: "allow" }) });
  const refused = await runClaude(bash(`rm -rf ${precious}`), { canUseTool });
  assert(existsSync(precious) && refused.includes(REFUSED), refused);
  const asks = () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask" } });
  const asking = claudeHooks(await runtime.load({}, { hooks: [{ event: "PreToolUse", run: asks }] }));
  await runClaude(bash(`rm -r ${precious}`), { hooks: asking, allowedTools: ["Bash"], canUseTool: claudeCanUseTool(nothing) });
  assert(existsSync(precious));
  await runClaude(bash(`rm -r ${precious}`), { hooks: asking, allowedTools: ["Bash"], canUseTool });
  assert(!existsSync(precious));
});

test("guardrails of the OpenAI Agents SDK", async () => {
  const ran = /** @type {string[]} */ ([]);
  const run = (/** @type {import("@hookbox/runtime").HookSet} */ hooks, result = "done") =>
    model([["run", { command: "rm -rf /" }]], async (url) => {
      const guardedTool = openaiTool({
        name: "run",
        description: "Runs a command",
        parameters: z.object({ command: z.string() }),
        inputGuardrails: [inputGuardrail(hooks)],
        outputGuardrails: [outputGuardrail(hooks)],
        execute: ({ command }) => (ran.push(command), result),
      });
      const client = /** @type {any} */ (new OpenAI({ baseURL: url, apiKey: "none" }));
      const agent = new Agent({ name: "agent", tools: [guardedTool], model: new OpenAIChatCompletionsModel(client, "m") });
      const ended = await new Runner({ tracingDisabled: true }).run(agent, "Clean up.");
      return String(ended.finalOutput);
    });
  const told = await run(await runtime.load(guarded, { folder }));
  assert(told.includes(REFUSED), told);
  assert.deepEqual(ran, []);
  const secret = (/** @type {any} */ event) => (event.tool_response.includes("secret") ? { decision: "block", reason: "a secret" } : null);
  const hooks = await runtime.load({}, { hooks: [{ event: "PostToolUse", run: secret }] });
  assert.equal(await run(hooks, "secret 42"), "I was told: a secret");
  assert.equal(await run(hooks), "I was told: done");
  assert.equal(ran.length, 2);
  // A guardrail cannot rewrite the input, not even of a call that the hook allows; the model reads a rewritten result.
  const input = { permissionDecision: "allow", updatedInput: { command: "ls" } };
  const rewrites = await runtime.load({}, { hooks: [{ event: "PreToolUse", run: () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...input } }) }] });
  assert((await run(rewrites)).includes("rewrites this call"));
  assert.equal(ran.length, 2);
  const redact = () => ({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: "***" } });
  assert.equal(await run(await runtime.load({}, { hooks: [{ event: "PostToolUse", run: redact }] }), "secret"), "I was told: ***");
  const stop = () => ({ continue: false, stopReason: "enough" });
  await assert.rejects(run(await runtime.load({}, { hooks: [{ event: "PreToolUse", run: stop }] })));
  const blade = await runtime.load({}, { dialect: "blade-callback@observed" });
  assert.throws(() => inputGuardrail(blade), /dialect claude/);
});

test("tools of the Vercel AI SDK", async () => {
  const ran = /** @type {string[]} */ ([]);
  const tools = {
    run: aiTool({
      description: "Runs a command",
      inputSchema: z.object({ command: z.string() }),
      execute: async ({ command }) => (ran.push(command), "done"),
    }),
  };
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const run = async (/** @type {import("@hookbox/runtime").HookSet} */ hooks) => {
    const call = { type: "tool-call", toolCallId: "1", toolName: "run", input: JSON.stringify({ command: "rm -rf /" }) };
    const says = [{ content: [call], finishReason: { unified: "tool-calls" } }, { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" } }];
    let turn = 0;
    const standIn = new MockLanguageModelV3({ doGenerate: async () => /** @type {any} */ ({ ...says[turn++], usage, warnings: [] }) });
    const { steps } = await generateText({ model: standIn, prompt: "Clean up.", tools: guardTools(hooks, tools), stopWhen: stepCountIs(3) });
    return JSON.stringify(steps[0]?.content.map((part) => ("error" in part ? String(part.error) : part)));
  };
  assert((await run(await runtime.load(guarded, { folder }))).includes(REFUSED));
  assert.deepEqual(ran, []);
  const rewrite = () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: { command: "ls" } } });
  await run(await runtime.load({}, { hooks: [{ event: "PreToolUse", run: rewrite }] }));
  assert.deepEqual(ran, ["ls"]);
  const ask = () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask" } });
  assert((await run(await runtime.load({}, { hooks: [{ event: "PreToolUse", run: ask }] }))).includes("approval"));
  assert.deepEqual(ran, ["ls"]);
  const redact = () => ({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: "***" } });
  const redacted = await run(await runtime.load({}, { hooks: [{ event: "PostToolUse", run: redact }] }));
  assert(redacted.includes("***") && !redacted.includes("done"), redacted);
  const lines = /** @type {string[]} */ ([]);
  guardTools(await runtime.load({}, { hooks: [{ event: "Stop", run() {} }] }), tools, { log: (line) => lines.push(line) });
  assert.match(lines.join(), /no event for Stop/);
});

test("callbacks of the Blade Agent SDK", async () => {
  const event = { event: "PreToolUse", sessionId: "s1", toolName: "Bash", toolInput: { command: "rm -rf /" } };
  const guard = { type: "wasm", component: "guard.wasm", matcher: "Bash" };
  const config = { failClosed: true, hooks: { PreToolUse: [guard] }, canUseTool: { type: "wasm", component: "guard.wasm" } };
  const dialect = "blade-callback@observed";
  const set = await runtime.load(config, { folder, dialect });
  const { hooks, canUseTool } = bladeHooks(set);
  assert.deepEqual(Object.keys(hooks), ["PreToolUse"]);
  assert(Object.keys(hooks).every((name) => EVENTS.includes(/** @type {"PreToolUse"} */ (name))));
  const said = await hooks.PreToolUse?.[0]?.(event);
  assert.equal(said?.reason, REFUSED);
  assert.notEqual(said?.action, "continue");
  assert.equal((await hooks.PreToolUse?.[0]?.({ ...event, toolInput: { command: "ls" } }))?.action, "continue");
  const denied = await canUseTool("Bash", { command: "rm -rf /" }, {});
  assert.equal(denied.behavior, "deny");
  await set.close();
  await assert.rejects(async () => hooks.PreToolUse?.[0]?.(event), HookboxError);
  assert.equal((await canUseTool("Bash", { command: "ls" }, {})).behavior, "deny");
  const claude = await runtime.load({});
  assert.throws(() => bladeHooks(claude), /dialect blade-callback/);
});

/** @type {(url: string) => import("node:child_process").SpawnSyncReturns<string>} */
function runPage(url) {
  const page = readFileSync(env("PAGE"), "utf8");
  for (const [, name, content] of page.matchAll(/^```\w+ file=(\S+)\n(.*?)^```$/gms)) {
    const file = join(folder, /** @type {string} */ (name));
    if (!existsSync(file)) writeFileSync(file, /** @type {string} */ (content));
  }
  if (!existsSync(join(folder, "node_modules"))) symlinkSync(join(import.meta.dirname, "node_modules"), join(folder, "node_modules"));
  return spawnSync(process.execPath, ["agent.mjs"], { cwd: folder, env: environment(url), encoding: "utf8", timeout: 120_000 });
}

test("the program of the page, and a broken configuration", async () => {
  await model(bash(`rm -rf ${precious}`), async (url) => {
    const ended = runPage(url);
    assert.equal(ended.status, 0, ended.stderr);
    assert(ended.stdout.includes(REFUSED), ended.stdout);
    rmSync(join(folder, "guard.wasm"));
    for (const broken of ['{ "failClosed": true, "hoks": 1 ', JSON.stringify(guarded)]) {
      writeFileSync(join(folder, "hooks.json"), broken);
      const ended = runPage(url);
      assert.notEqual(ended.status, 0);
      assert(ended.stderr.includes("hooks.json"), ended.stderr);
    }
    assert(existsSync(precious));
  });
});
