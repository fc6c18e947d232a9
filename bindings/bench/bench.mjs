// bench.mjs FOLDER LIBRARY: the package for Node.js beside the Rust library, and its bounds. Exits with 1 if one is missed.
//
// Both sides work in turns within one run, and a ratio is the median of the turns: so other load on the machine counts for both.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { Runtime } from "@hookbox/runtime";

const [folder, program] = process.argv.slice(2);
const event = readFileSync(join(folder, "event.json"), "utf8");
const [TURNS, TIMES, TOGETHER] = [15, 2000, 10_000];
const missed = [];

const child = spawn(program, [folder], { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
await lines.next();

/** Seconds that this work takes the library. */
async function library(work) {
  child.stdin.write(`${work}\n`);
  return Number((await lines.next()).value) / 1e9;
}

/** Prints a figure beside its bound. */
function report(what, value, unit, bound, more = "") {
  const holds = bound === undefined || value <= bound;
  const limit = bound === undefined ? "" : `<= ${bound}${holds ? "" : "  MISSED"}`;
  console.log(`node    ${what.padEnd(42)} ${value.toFixed(2).padStart(8)} ${unit.padEnd(4)} ${limit.padEnd(18)} ${more}`);
  if (!holds) missed.push(what);
}

const median = (numbers) => [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** Reports the median ratio of the seconds of the package and of the library, for so many decisions. */
async function compare(what, own, work, times, bound) {
  const turn = async () => {
    const begin = performance.now();
    await own();
    return [(performance.now() - begin) / 1e3, await library(work)];
  };
  await turn();
  const turns = [];
  for (let i = 0; i < TURNS; i++) turns.push(await turn());
  const [one, other] = [0, 1].map((side) => (median(turns.map((turn) => turn[side])) / times) * 1e6);
  report(what, median(turns.map(([own, other]) => own / other)), "x", bound, `${one.toFixed(1)} us beside ${other.toFixed(1)} us`);
}

function blocks(response) {
  if (!response.blocks) throw new Error("not blocked");
}

/** The lateness of a timer, in milliseconds: the 99th of 100, while so many decisions run. */
async function late(hooks, atOnce) {
  let ended = false;
  const decide = async () => {
    while (!ended) await hooks.decide(event);
  };
  const busy = Array.from({ length: atOnce }, decide);
  await sleep(300);
  const lateness = [];
  for (let i = 0; i < 1000; i++) {
    const begin = performance.now();
    await sleep(2);
    lateness.push(performance.now() - begin - 2);
  }
  ended = true;
  await Promise.all(busy);
  return lateness.sort((one, other) => one - other)[989];
}

const runtime = await Runtime.open();
const hooks = await runtime.load(join(folder, "hooks.json"));
await compare("a decision", () => { for (let i = 0; i < TIMES; i++) blocks(hooks.decideSync(event)); }, `sync ${TIMES}`, TIMES, 1.5);
const together = async () => (await Promise.all(Array.from({ length: TOGETHER }, () => hooks.decide(event)))).forEach(blocks);
await compare(`each of ${TOGETHER.toLocaleString("en")} decisions at once`, together, `together ${TOGETHER}`, TOGETHER);
await compare("a decision that is awaited alone", async () => { for (let i = 0; i < TIMES; i++) blocks(await hooks.decide(event)); }, `sync ${TIMES}`, TIMES);
const spin = { hooks: { PreToolUse: [{ hooks: [{ type: "wasm", component: "endless.wasm", timeout: 0.2 }] }] }, limits: { fuel: 2 ** 53 - 1 } };
const spinning = await runtime.load(spin, { folder });
report("loop delay p99, idle", await late(hooks, 0), "ms");
report("loop delay p99, 16 guards at once", await late(hooks, 16), "ms", 2);
report("loop delay p99, 4 endless hooks at once", await late(spinning, 4), "ms", 2);
child.stdin.end();
console.log(`node    peak memory ${process.resourceUsage().maxRSS >> 10} MiB`);
if (missed.length > 0) {
  console.error(`missed: ${missed.join(", ")}`);
  process.exit(1);
}
