// The plugin behind a stand-in of OpenCode's contract. What answers is the real `hookbox` (named by `HOOKBOX`, on the PATH
// by default), or a program or a server that misbehaves.

import assert from "node:assert/strict";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import * as plugin from "../hookbox.js";
import { OpenCode } from "./opencode.js";

const HOOKBOX = process.env.HOOKBOX ?? "hookbox";

/** OpenCode in a folder of its own, with the plugin set up by these variables. */
async function opencode(env: Record<string, string>, directory = folder(), loaded: object = plugin): Promise<OpenCode> {
  for (const name of Object.keys(process.env)) if (name.startsWith("HOOKBOX")) delete process.env[name];
  Object.assign(process.env, { HOOKBOX_TIMEOUT_MS: "20000", ...env });
  return OpenCode.load([loaded as typeof plugin], directory);
}

function folder(): string {
  return mkdtempSync(join(tmpdir(), "hookbox-opencode-"));
}

/** OpenCode behind the real hookbox with one shell command as its hook on each of these events. */
function behind(hooks: Record<string, string>): Promise<OpenCode> {
  const directory = folder();
  const groups = (command: string) => [{ hooks: [{ type: "command", command }] }];
  const events = Object.entries(hooks).map(([event, command]) => [event, groups(command)]);
  const config = { dialect: "opencode", hooks: Object.fromEntries(events) };
  writeFileSync(join(directory, "hooks.json"), JSON.stringify(config));
  return opencode({ HOOKBOX }, directory);
}

const says = (event: string, fields: object) =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...fields } })}'`;

/** A program in the place of hookbox. */
function program(body: string): string {
  const path = join(folder(), "program");
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

const ls = { command: "ls", description: "list" };
const tool = (args: any) => `ran ${args.command}`;

test("it has one export, because OpenCode calls them all", () => {
  assert.deepEqual(Object.keys(plugin), ["Hookbox"]);
});

test("a call without an objection runs", async () => {
  const agent = await behind({ PreToolUse: "echo '{}'" });
  assert.deepEqual(await agent.tool("bash", { ...ls }, tool), { ran: ls, told: "ran ls" });
});

test("a denied call does not run, and the model gets the reason", async () => {
  const agent = await behind({ PreToolUse: says("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "not here" }) });
  assert.deepEqual(await agent.tool("bash", { ...ls }, tool), { told: "error: not here" });
});

test("OpenCode that starts below the project finds its configuration", async () => {
  const directory = folder();
  const hook = says("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "not here" });
  const config = { dialect: "opencode", hooks: { PreToolUse: [{ hooks: [{ type: "command", command: hook }] }] } };
  writeFileSync(join(directory, "hooks.json"), JSON.stringify(config));
  const [plugins, below] = [join(directory, ".opencode/plugin"), join(directory, "src/deep")];
  for (const made of [plugins, below]) mkdirSync(made, { recursive: true });
  copyFileSync(new URL("../hookbox.js", import.meta.url), join(plugins, "hookbox.mjs"));
  const agent = await opencode({ HOOKBOX }, below, await import(join(plugins, "hookbox.mjs")));
  assert.deepEqual(await agent.tool("bash", { ...ls }, tool), { told: "error: not here" });
});

test("asking and stopping are denials", async () => {
  for (const hook of [says("PreToolUse", { permissionDecision: "ask" }), "echo '{\"continue\":false}'"]) {
    const agent = await behind({ PreToolUse: hook });
    assert.match((await agent.tool("bash", { ...ls }, tool)).told, /^error: (?!hookbox did not answer)/);
  }
});

test("hooks see OpenCode's tool, arguments, session, call and folder", async () => {
  const directory = folder();
  const agent = await opencode({ HOOKBOX: program(`cat > ${directory}/event; echo '{}'`) }, directory);
  await agent.tool("bash", { ...ls }, tool, "s7");
  assert.deepEqual(JSON.parse(readFileSync(join(directory, "event"), "utf8")), {
    hook_event_name: "PostToolUse",
    opencode_plugin: 1,
    session_id: "s7",
    cwd: directory,
    tool_name: "bash",
    tool_input: ls,
    tool_use_id: "call_0",
    tool_response: "ran ls",
  });
});

test("arguments are changed in place, and what is left out is gone", async () => {
  const agent = await behind({ PreToolUse: says("PreToolUse", { updatedInput: { command: "pwd" } }) });
  assert.deepEqual(await agent.tool("bash", { ...ls }, tool), { ran: { command: "pwd" }, told: "ran pwd" });
});

test("a result is replaced wherever OpenCode keeps it", async () => {
  const agent = await behind({ PostToolUse: says("PostToolUse", { updatedToolOutput: "***" }) });
  assert.equal((await agent.tool("bash", { ...ls }, () => "SECRET")).told, "***");
});

test("a blocked result is an error, and its text is gone", async () => {
  const agent = await behind({ PostToolUse: `echo '{"decision":"block","reason":"a secret"}'` });
  assert.deepEqual(await agent.tool("bash", { ...ls }, () => "SECRET"), { ran: ls, told: "error: a secret" });
});

test("context of both events stands after the result", async () => {
  const agent = await behind({
    PreToolUse: says("PreToolUse", { additionalContext: "before" }),
    PostToolUse: says("PostToolUse", { additionalContext: "after" }),
  });
  assert.equal((await agent.tool("bash", { ...ls }, tool)).told, "ran ls\n\nbefore\n\nafter");
});

test("a blocked prompt ends the run", async () => {
  const agent = await behind({ UserPromptSubmit: `echo '{"decision":"block","reason":"not today"}'` });
  assert.deepEqual(await agent.chat(["go"]), { ended: "not today" });
});

test("a prompt is replaced, and context stands after it", async () => {
  const agent = await behind({ UserPromptSubmit: says("UserPromptSubmit", { updatedPrompt: "stay", additionalContext: "please" }) });
  assert.deepEqual(await agent.chat(["go", "SECRET"]), { system: ["you are helpful"], prompt: ["stay", "\n\nplease"] });
});

test("a session's context goes into its system prompt, and into no other", async () => {
  const agent = await behind({ SessionStart: says("SessionStart", { additionalContext: "use tabs" }) });
  await agent.event("session.created", { sessionID: "s1", info: { id: "s1" } });
  assert.deepEqual(await agent.chat(["go"], "s1"), { system: ["you are helpful", "use tabs"], prompt: ["go"] });
  assert.deepEqual(await agent.chat(["go"], "s2"), { system: ["you are helpful"], prompt: ["go"] });
});

test("the end of a turn is a notification, and cannot fail", async () => {
  const directory = folder();
  const agent = await opencode({ HOOKBOX: program(`cat > ${directory}/event; exit 70`) }, directory);
  await agent.event("session.idle", { sessionID: "s1" });
  const event = JSON.parse(readFileSync(join(directory, "event"), "utf8"));
  assert.deepEqual(event, { hook_event_name: "Stop", opencode_plugin: 1, session_id: "s1", cwd: directory });
});

// Whatever goes wrong, it denies.

const failures: Record<string, Record<string, string>> = {
  "hookbox is not there": { HOOKBOX: "/no/such/hookbox" },
  "hookbox ends with another code": { HOOKBOX: program("echo '{}'; exit 78") },
  "hookbox is killed": { HOOKBOX: program("kill -9 $$") },
  "hookbox prints nothing": { HOOKBOX: program("true") },
  "hookbox says no JSON": { HOOKBOX: program("echo hello") },
  "hookbox says no object": { HOOKBOX: program("echo '[]'") },
  "hookbox prints an unknown decision": { HOOKBOX: program(says("PreToolUse", { permissionDecision: "maybe" })) },
  "hookbox hangs": { HOOKBOX: program("exec sleep 600"), HOOKBOX_TIMEOUT_MS: "300" },
  "there is no configuration": { HOOKBOX, HOOKBOX_CONFIG: "/no/such/hooks.json" },
  "there is no daemon": { HOOKBOX_URL: "http://127.0.0.1:1" },
};

for (const [what, env] of Object.entries(failures)) {
  test(`a failure denies: ${what}`, async () => {
    const agent = await opencode(env);
    const { ran, told } = await agent.tool("bash", { ...ls }, tool);
    assert.equal(ran, undefined);
    assert.match(told, /^error: hookbox did not answer: /);
    assert.ok("ended" in (await agent.chat(["go"])));
  });
}

test("exit code 2 denies with what is on stderr", async () => {
  const agent = await opencode({ HOOKBOX: program("echo 'fails closed' >&2; exit 2") });
  assert.deepEqual(await agent.tool("bash", { ...ls }, tool), { told: "error: fails closed" });
});

test("arguments that are not JSON deny", async () => {
  const agent = await behind({});
  const args: any = { ...ls };
  args.self = args;
  assert.match((await agent.tool("bash", args, tool)).told, /^error: hookbox did not answer: /);
});

test("failing open takes asking for it, and a denial stays one", async () => {
  const open = await opencode({ HOOKBOX: "/no/such/hookbox", HOOKBOX_FAIL_OPEN: "1" });
  assert.equal((await open.tool("bash", { ...ls }, tool)).told, "ran ls");
  const denied = await opencode({ HOOKBOX: program("exit 2"), HOOKBOX_FAIL_OPEN: "1" });
  assert.equal((await denied.tool("bash", { ...ls }, tool)).told, "error: hookbox denied it");
});

// The daemon.

async function daemon(listener: RequestListener, env: Record<string, string>, use: (agent: OpenCode) => Promise<void>) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    await use(await opencode({ HOOKBOX_URL: `http://127.0.0.1:${port}/`, ...env }));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a daemon is asked at the tenant's address, with the token", async () => {
  const seen: unknown[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const event = JSON.parse(Buffer.concat(chunks).toString());
    seen.push([request.method, request.url, request.headers.authorization, event.hook_event_name, event.tool_name]);
    response.setHeader("hookbox-verdict", "deny");
    response.end(JSON.stringify({ decision: "block", reason: "by the daemon" }));
  };
  await daemon(listener, { HOOKBOX_TENANT: "acme", HOOKBOX_TOKEN: "t0ken" }, async (agent) => {
    assert.deepEqual(await agent.tool("bash", { ...ls }, tool), { told: "error: by the daemon" });
  });
  assert.deepEqual(seen, [["POST", "/v1/acme/opencode", "Bearer t0ken", "PreToolUse", "bash"]]);
});

const verdict = (response: ServerResponse, word: string | string[]) => response.setHeader("hookbox-verdict", word);

const refusals: Record<string, RequestListener> = {
  "another status": (_, response) => response.writeHead(503).end("{}"),
  "a redirect": (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
  "no JSON": (_, response) => verdict(response, "allow").end("<html>"),
  "an unknown verdict": (_, response) => verdict(response, "permit").end("{}"),
  "an empty verdict": (_, response) => verdict(response, "").end("{}"),
  "a verdict in capitals": (_, response) => verdict(response, "Allow").end("{}"),
  "two verdicts": (_, response) => verdict(response, ["allow", "deny"]).end("{}"),
  "the same verdict twice": (_, response) => verdict(response, ["allow", "allow"]).end("{}"),
  "a compressed answer": (_, response) => verdict(response, "allow").setHeader("content-encoding", "gzip").end(gzipSync("{}")),
  "no verdict": (_, response) => response.end("{}"),
  "half an answer and then nothing": (_, response) => void response.writeHead(200).write("{"),
  "nothing at all": () => {},
};

for (const [what, listener] of Object.entries(refusals)) {
  test(`a daemon that gives ${what} denies`, async () => {
    await daemon(listener, { HOOKBOX_TIMEOUT_MS: "500" }, async (agent) => {
      assert.match((await agent.tool("bash", { ...ls }, tool)).told, /^error: hookbox did not answer: /);
    });
  });
}

for (const word of ["ask", "defer", "deny", "skip", "respond", "stop"]) {
  test(`a daemon's ${word} denies, whatever the body says`, async () => {
    const allowed = says("PreToolUse", { permissionDecision: "allow" }).slice("echo '".length, -1);
    for (const body of ["{}", allowed]) {
      const listener: RequestListener = (_, response) => verdict(response, word).end(body);
      for (const env of [{}, { HOOKBOX_FAIL_OPEN: "1" }]) {
        await daemon(listener, env, async (agent) => {
          assert.deepEqual(await agent.tool("bash", { ...ls }, tool), { told: "error: a hook denied it" });
        });
      }
    }
  });
}

test("a daemon's permission lets the call run", async () => {
  for (const word of ["nothing", "none", "allow"]) {
    await daemon((_, response) => verdict(response, word).end("{}"), {}, async (agent) => {
      assert.deepEqual(await agent.tool("bash", { ...ls }, tool), { ran: ls, told: "ran ls" });
    });
  }
});
