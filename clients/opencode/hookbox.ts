// OpenCode plugin: asks hookbox about every tool call, every result and every prompt, and obeys.
//
// Copy this file to `.opencode/plugin/hookbox.ts`. It needs no package. What it sends and obeys is written down in
// `docs/spec/opencode.md`; how to set it up, in `docs/use/opencode.md`.
//
// It fails closed: if hookbox does not answer in time, for any reason, the tool does not run. OpenCode skips a plugin that
// throws while it is loaded, and the gate would be open; so nothing here can throw before the first event. OpenCode calls
// every export of a plugin file as a plugin; so there is one export.

import { spawn } from "node:child_process";
import { basename, dirname, resolve as place } from "node:path";

type Json = Record<string, unknown>;

/** The calls of OpenCode that this plugin takes. */
interface Hooks {
  "tool.execute.before"(
    input: { tool: string; sessionID: string; callID: string },
    output: { args: any },
  ): Promise<void>;
  "tool.execute.after"(
    input: { tool: string; sessionID: string; callID: string; args?: any },
    output: { title?: string; output: any; metadata?: any },
  ): Promise<void>;
  "chat.message"(input: { sessionID: string }, output: { message?: any; parts: Part[] }): Promise<void>;
  "experimental.chat.system.transform"(input: { sessionID?: string }, output: { system: string[] }): Promise<void>;
  event(input: { event: { type: string; properties?: any } }): Promise<void>;
}

interface Part {
  type: string;
  text?: string;
  [key: string]: unknown;
}

/** What hookbox said about one event. */
interface Verdict {
  denied?: string;
  updatedInput?: Json;
  updatedOutput?: unknown;
  updatedPrompt?: string;
  context?: string;
}

/** Defaults for missing environment variables; `hookbox install opencode` writes its own here. Times in milliseconds. */
const INSTALLED = { command: "hookbox", config: "hooks.json", timeout: 10_000 };

/** Words of the header `Hookbox-Verdict` that let a call run, and those that do not: `docs/serving.md`. */
const OPEN = ["nothing", "none", "allow"];
const CLOSED = ["ask", "defer", "deny", "skip", "respond", "stop"];

/** From the environment; see `docs/use/opencode.md`. */
interface Settings {
  command: string;
  config: string;
  url: string | undefined;
  tenant: string;
  token: string | undefined;
  timeout: number;
  failOpen: boolean;
  directory: string;
}

export const Hookbox = async (opencode?: { directory?: string }): Promise<Hooks> => {
  const directory = opencode?.directory ?? process.cwd();
  const settings = read(process.env, directory);
  /** Text to add to the result of a pending call, by session and call. */
  const ofCalls = new Map<string, Map<string, string>>();
  /** Text to add to the system prompt, by session. */
  const ofSessions = new Map<string, Promise<string | undefined>>();

  /** Sends an event that hookbox can block: a failure denies. */
  async function gate(event: Json): Promise<Verdict> {
    let verdict: Verdict;
    try {
      verdict = await decide(settings, event);
    } catch (error) {
      const why = `hookbox did not answer: ${message(error)}`;
      if (!settings.failOpen) throw new Error(why);
      console.error(why);
      return {};
    }
    if (verdict.denied !== undefined) throw new Error(verdict.denied);
    return verdict;
  }

  /** Sends an event that cannot be blocked: a failure is written to stderr. */
  async function tell(event: Json): Promise<string | undefined> {
    try {
      return (await decide(settings, event)).context;
    } catch (error) {
      console.error(`hookbox did not answer: ${message(error)}`);
      return undefined;
    }
  }

  const event = (name: string, session: string | undefined, fields: Json): Json => ({
    hook_event_name: name,
    opencode_plugin: 1,
    session_id: session,
    cwd: directory,
    ...fields,
  });

  return {
    async "tool.execute.before"(input, output) {
      const call = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID };
      const verdict = await gate(event("PreToolUse", input.sessionID, call));
      if (verdict.updatedInput) replace(output.args, verdict.updatedInput);
      if (verdict.context === undefined) return;
      const calls = ofCalls.get(input.sessionID) ?? new Map<string, string>();
      ofCalls.set(input.sessionID, calls.set(input.callID, verdict.context));
    },

    async "tool.execute.after"(input, output) {
      const earlier = ofCalls.get(input.sessionID)?.get(input.callID);
      const call = { tool_name: input.tool, tool_input: input.args ?? {}, tool_use_id: input.callID };
      let verdict: Verdict;
      try {
        verdict = await gate(event("PostToolUse", input.sessionID, { ...call, tool_response: output.output }));
      } catch (error) {
        // A throw makes the result an error. The text is removed too, in case a caller reads the result anyway.
        hide(output, "");
        throw error;
      }
      if (verdict.updatedOutput !== undefined) hide(output, asText(verdict.updatedOutput));
      for (const context of [earlier, verdict.context]) {
        if (context !== undefined) output.output = `${asText(output.output)}\n\n${context}`;
      }
    },

    async "chat.message"(input, output) {
      const texts = output.parts.filter((part) => part.type === "text");
      const prompt = texts.map((part) => part.text ?? "").join("\n");
      const verdict = await gate(event("UserPromptSubmit", input.sessionID, { prompt }));
      if (verdict.updatedPrompt !== undefined) {
        texts.forEach((part, index) => (part.text = index === 0 ? verdict.updatedPrompt! : ""));
      }
      if (verdict.context === undefined) return;
      const last = texts.at(-1);
      // A prompt of files alone has no text to add to.
      if (last) last.text = `${last.text ?? ""}\n\n${verdict.context}`;
      else remember(ofSessions, input.sessionID, Promise.resolve(verdict.context));
    },

    async "experimental.chat.system.transform"(input, output) {
      const context = input.sessionID === undefined ? undefined : await ofSessions.get(input.sessionID);
      if (context !== undefined) output.system.push(context);
    },

    async event({ event: { type, properties } }) {
      const session: string | undefined = properties?.sessionID ?? properties?.info?.id;
      if (type === "session.created" && session !== undefined) {
        // The first request to the model waits for this one, and it has a timeout.
        remember(ofSessions, session, tell(event("SessionStart", session, { source: "startup" })));
      } else if (type === "session.idle") {
        if (session !== undefined) ofCalls.delete(session);
        await tell(event("Stop", session, {}));
      } else if (type === "session.deleted" && session !== undefined) {
        ofSessions.delete(session);
      }
    },
  };
};

function read(env: NodeJS.ProcessEnv, directory: string): Settings {
  const timeout = Number(env.HOOKBOX_TIMEOUT_MS);
  return {
    command: env.HOOKBOX ?? INSTALLED.command,
    config: env.HOOKBOX_CONFIG ?? place(project(directory), INSTALLED.config),
    url: env.HOOKBOX_URL,
    tenant: env.HOOKBOX_TENANT ?? "default",
    token: env.HOOKBOX_TOKEN,
    timeout: timeout > 0 ? timeout : INSTALLED.timeout,
    failOpen: env.HOOKBOX_FAIL_OPEN === "1",
    directory,
  };
}

/** The project with this file in `.opencode/plugin/`. OpenCode may have been started in a folder below it. */
function project(directory: string): string {
  const folder = dirname(import.meta.dirname ?? "");
  return basename(folder) === ".opencode" ? dirname(folder) : directory;
}

/** Sends one event to hookbox. Throws when the answer is missing, late or invalid. */
async function decide(settings: Settings, event: Json): Promise<Verdict> {
  const body = JSON.stringify(event);
  const signal = AbortSignal.timeout(settings.timeout);
  try {
    return await (settings.url === undefined ? run(settings, body, signal) : post(settings, settings.url, body, signal));
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${settings.timeout} ms`);
    throw error;
  }
}

/** One event through `hookbox run`. */
function run(settings: Settings, body: string, signal: AbortSignal): Promise<Verdict> {
  return new Promise((resolve, reject) => {
    const args = ["run", "--dialect", "opencode", "--diagnostics", "off", "--config", settings.config];
    const child = spawn(settings.command, args, { cwd: settings.directory, signal, killSignal: "SIGKILL" });
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    // Aborted, or not to be started.
    child.on("error", reject);
    // It may answer without reading.
    child.stdin.on("error", () => {});
    child.stdin.end(body);
    child.on("close", (code, killed) => {
      const reason = err().trim();
      try {
        if (code === 2) resolve({ denied: reason || "hookbox denied it" });
        else if (code !== 0) throw new Error(`hookbox ended with ${code ?? killed}${reason && `: ${reason}`}`);
        else resolve(understand(out()));
      } catch (error) {
        reject(error);
      }
    });
  });
}

function collect(from: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  from.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

/** One event through a daemon. */
async function post(settings: Settings, url: string, body: string, signal: AbortSignal): Promise<Verdict> {
  const headers: Record<string, string> = { "content-type": "application/json", "accept-encoding": "identity" };
  if (settings.token !== undefined) headers.authorization = `Bearer ${settings.token}`;
  const address = `${url.replace(/\/+$/, "")}/v1/${encodeURIComponent(settings.tenant)}/opencode`;
  // A redirect would send the event, and its secrets, to another server.
  const response = await fetch(address, { method: "POST", headers, body, signal, redirect: "error" });
  const encoding = response.headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") throw new Error(`unexpected content-encoding ${encoding.slice(0, 40)}`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the daemon answered ${response.status}: ${text.slice(0, 200)}`);
  // A proxy or a login page has no such header. Two of them are read as one, with a comma, which is an unknown word.
  const word = response.headers.get("hookbox-verdict");
  if (word === null) throw new Error(`the answer has no Hookbox-Verdict: ${text.slice(0, 200)}`);
  if (!OPEN.includes(word) && !CLOSED.includes(word)) throw new Error(`unknown Hookbox-Verdict ${asText(word.slice(0, 40))}`);
  const verdict = understand(text);
  // A body that was cut or replaced on its way does not turn a denial into a permission.
  return CLOSED.includes(word) ? { denied: "a hook denied it", ...verdict } : verdict;
}

/** Reads a verdict. What is not understood is not a permission. */
function understand(text: string): Verdict {
  const wire = object(JSON.parse(text), "the verdict");
  const specific = object(wire.hookSpecificOutput ?? {}, "hookSpecificOutput");
  const verdict: Verdict = {};
  const permission = specific.permissionDecision;
  if (wire.decision === "block" || wire.continue === false || permission === "deny" || permission === "ask") {
    const reason = specific.permissionDecisionReason ?? wire.reason ?? wire.stopReason;
    return { denied: typeof reason === "string" && reason !== "" ? reason : "a hook denied it" };
  }
  if (permission !== undefined && permission !== "allow") throw new Error(`unknown decision ${asText(permission)}`);
  if (wire.decision !== undefined) throw new Error(`unknown decision ${asText(wire.decision)}`);
  if (specific.updatedInput !== undefined) verdict.updatedInput = object(specific.updatedInput, "updatedInput");
  if (specific.updatedToolOutput !== undefined) verdict.updatedOutput = specific.updatedToolOutput;
  if (specific.updatedPrompt !== undefined) verdict.updatedPrompt = asText(specific.updatedPrompt);
  if (specific.additionalContext !== undefined) verdict.context = asText(specific.additionalContext);
  return verdict;
}

function object(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} is not an object`);
  return value as Json;
}

/** Makes `target` equal to `wanted`, in place: OpenCode keeps its own reference to the arguments. */
function replace(target: Json, wanted: Json): void {
  for (const key of Object.keys(target)) if (!(key in wanted)) delete target[key];
  Object.assign(target, wanted);
}

/** Puts another text in the place of a result, wherever OpenCode keeps it. */
function hide(output: { output: any; metadata?: any }, text: string): void {
  output.output = text;
  if (typeof output.metadata?.output === "string") output.metadata.output = text;
}

/** Adds text to the system prompt of a session. */
function remember(to: Map<string, Promise<string | undefined>>, session: string, later: Promise<string | undefined>): void {
  const before = to.get(session) ?? Promise.resolve(undefined);
  to.set(
    session,
    Promise.all([before, later]).then((texts) => {
      const said = texts.filter((text) => text !== undefined);
      return said.length === 0 ? undefined : said.join("\n");
    }),
  );
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
