// Hostile guests through the package. HOSTILE is the folder that the tests in `tests/hostile` laid out.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { HookboxError, Runtime } from "@hookbox/runtime";

const EVENT = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" } };
const AT_ONCE = 4;
const folder = /** @type {string} */ (process.env["HOSTILE"]);

test("every hostile guest", { skip: folder === undefined }, async () => {
  const runtime = await Runtime.open();
  /** The end of a guest, its cause, and whether it blocks. @type {(name: string, guest: any) => Promise<[string, unknown, boolean]>} */
  const outcome = async (name, guest) => {
    const hook = { type: "wasm", component: `${name}.wasm`, timeout: guest.timeout, onFailure: "block" };
    const config = { limits: guest.limits, hooks: { PreToolUse: [{ hooks: [hook] }] } };
    const hooks = await runtime.load(config, { folder }).catch((error) => {
      if (error instanceof HookboxError) return error;
      throw error;
    });
    if (hooks instanceof HookboxError) return ["refused", hooks.code, true];
    const response = await hooks.decide(EVENT);
    return ["decided", response.report?.hooks[0]?.cause, response.blocks];
  };
  const guests = readdirSync(folder).filter((file) => file.endsWith(".json"));
  assert(guests.length > 60);
  const wrong = /** @type {string[]} */ ([]);
  const work = guests.values();
  const worker = async () => {
    for (const file of work) {
      const name = file.slice(0, -5);
      const guest = JSON.parse(readFileSync(join(folder, file), "utf8"));
      const [end, cause, blocks] = await outcome(name, guest);
      const fails = end === "decided" && cause === guest.cause && blocks;
      if (guest.cause !== null && !fails) wrong.push(`${name}: expected ${guest.cause}, found ${end} ${cause} ${blocks}`);
      if (!guest.loads && end !== "refused") wrong.push(`${name}: loaded, ${end} ${cause}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  assert.deepEqual(wrong, []);
  // The runtime is as it was.
  const honest = { hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2" }] }] } };
  assert((await (await runtime.load(honest)).decide(EVENT)).blocks);
});
