// Every vector through the package. VECTORS is the folder that `lay-out-vectors` wrote.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Runtime } from "@hookbox/runtime";

const AT_ONCE = 8;

/**
 * Tells whether this is what was expected; `*` stands for any text that is not empty.
 * @type {(expected: any, found: any) => boolean}
 */
function fits(expected, found) {
  if (expected === "*" && typeof found === "string") return found !== "";
  if (typeof expected !== "object" || expected === null || typeof found !== "object" || found === null) {
    return Object.is(expected, found);
  }
  if (Array.isArray(expected) !== Array.isArray(found)) return false;
  const keys = Object.keys(expected);
  return keys.length === Object.keys(found).length && keys.every((key) => key in found && fits(expected[key], found[key]));
}

/**
 * Tells what is not as the vector says.
 * @type {(vector: any, response: import("@hookbox/runtime").Response) => string | undefined}
 */
function problem(vector, response) {
  const { report } = response;
  if (response.error || !report) return `the error ${JSON.stringify(response.error)}`;
  const told = vector.feedback !== null;
  const wire = told ? report.output : response.output;
  if (!fits(vector.expect, wire)) return `expected ${JSON.stringify(vector.expect)}, found ${JSON.stringify(wire)}`;
  const kinds = [...report.notes, ...report.hooks.flatMap((hook) => hook.notes ?? [])].map((note) => note.kind);
  const failed = report.hooks.some((hook) => hook.verdict === "failed") ? ["failed"] : [];
  const ran = Array.from({ length: vector.hooks }, (_, number) => number);
  const made = {
    feedback: response.stderr,
    exitCode: response.exitCode,
    stdout: told ? response.stdout : "",
    notes: [...new Set([...kinds, ...failed])].sort(),
    ran: ran.filter((number) => existsSync(join(vector.dir, `ran${number}`))),
  };
  const wanted = {
    feedback: vector.feedback,
    exitCode: told ? 2 : 0,
    stdout: "",
    notes: [...vector.notes].sort(),
    ran: vector.ran,
  };
  if (JSON.stringify(made) !== JSON.stringify(wanted)) {
    return `expected ${JSON.stringify(wanted)}, found ${JSON.stringify(made)}`;
  }
  return undefined;
}

test("every vector", async () => {
  const vectors = JSON.parse(readFileSync(join(/** @type {string} */ (process.env["VECTORS"]), "vectors.json"), "utf8"));
  assert(vectors.length > 500);
  const runtime = await Runtime.open();
  const failures = /** @type {string[]} */ ([]);
  const work = vectors.values();
  const worker = async () => {
    for (const vector of work) {
      const hooks = await runtime.load(vector.config);
      const options = vector.as === null ? {} : { eventName: vector.as };
      const why = problem(vector, await hooks.decide(vector.event, options));
      await hooks.close();
      if (why) failures.push(`${vector.place}\n  ${why}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  assert.deepEqual(failures, []);
});
