// Tried as an operator: from the first page, each cause of trouble is found in at most two clicks.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Daemon, event, launch, opened, rowsOf, TENANTS } from "./daemon.mjs";

const HOUR = 3_600_000;
let daemon, browser;

before(async () => {
  daemon = await Daemon.start();
  browser = await launch();
  for (let n = 0; n < 25; n++) await daemon.ask("budget", event(n % 5 ? "ls" : "rm -rf /"));
  // The counters survive a restart, so their file can say that the failures began an hour ago.
  await daemon.stop();
  shift(daemon.folder, HOUR);
  await daemon.run();
  await daemon.ask("budget", event("ls"));
  await Promise.all(Array.from({ length: 10 }, () => daemon.ask("quota", event("ls"))));
  await Promise.all(Array.from({ length: 24 }, () => daemon.ask("slow", event("ls"))));
});

after(async () => {
  await browser?.close();
  await daemon?.end();
});

/** Moves the beginning of failures in the saved history into the past. */
function shift(folder, by) {
  const name = readdirSync(folder, { recursive: true }).find((name) => /console-.*\.json$/.test(name));
  const file = join(folder, name);
  const saved = JSON.parse(readFileSync(file, "utf8"));
  const failing = saved.hooks.filter(({ counters }) => counters.failing);
  assert.equal(failing.length, 1);
  for (const { counters } of failing) counters.failing.since -= by;
  writeFileSync(file, JSON.stringify(saved));
}

const text = (locator) => locator.innerText();

/** The first page, and a click on an entry that needs attention. */
async function first(words) {
  const { page, wrong, close } = await opened(browser, daemon);
  const entry = page.getByRole("list", { name: "Needs attention" }).getByRole("link").filter({ hasText: words }).first();
  const summary = await text(entry);
  await entry.click();
  return { page, summary, done: async () => { assert.deepEqual(wrong, []); await close(); } };
}

test("a hook that started to fail an hour ago: one click", async () => {
  const { page, summary, done } = await first("starved");
  assert.match(summary, /for 1 h/);
  const hook = page.getByRole("article", { name: "starved" });
  await hook.getByText(/Fails since \d{4}-/).waitFor();
  assert.match(await text(hook), /failing for 1 h[\s\S]*26 times[\s\S]*out-of-fuel: used up its 1000 units of fuel/);
  // The second click shows a verdict that it failed on.
  await hook.getByRole("link", { name: "the verdict" }).click();
  await page.getByRole("article", { name: "Verdict" }).getByText("Decided by").waitFor();
  assert.match(await text(page.getByRole("article", { name: "Verdict" })), /Decided by\s+starved/);
  await done();
});

test("a tenant over its quota: one click", async () => {
  const { page, summary, done } = await first(/over quota/);
  assert.match(summary, /quota[\s\S]*\d+ requests refused/);
  assert.match(await text(page.getByRole("article", { name: "quota" })), /Requests\s+1\/s[\s\S]*over-quota\s+\d+, last/);
  await done();
});

test("a monitored hook that is ready to be enforced: one click", async () => {
  const { page, done } = await first(/monitored: would have denied 5 of 26/);
  const hook = page.getByRole("article", { name: "new-guard" });
  await hook.getByText("What it would have stopped").waitFor();
  assert.match(await text(hook), /would have denied 5 of 26 \(19\.2%\)/);
  assert.equal(await hook.locator(".examples li").count(), 5);
  await done();
});

test("a slow neighbour, and the hook that makes it slow: two clicks", async () => {
  const { page, summary, done } = await first(/slow: the 99th percentile/);
  assert.match(summary, /99th percentile of its verdicts is \d+ ms/);
  await page.getByRole("article", { name: "slow" }).getByRole("link", { name: "Hooks" }).click();
  const row = page.getByRole("row").filter({ hasText: "slow-script" });
  assert.match(await text(row), /slow-script\s+enforced\s+slow\s+24\s+0\s+0\s+\d+ ms\s+\d+ ms/);
  await done();
});

test("files that cannot be used, in the words of `hookbox check`: one click", async () => {
  const { page, done } = await first("typo");
  const error = await text(page.getByLabel("Error"));
  assert.match(error, /error: unknown key `mathcer`\n +.*typo-hooks\.json +\/hooks\/PreToolUse\/0\/mathcer +\(line 5\)\n +did you mean `matcher`\?/);
  await done();
});

test("daemons that answer at one address are named", async (t) => {
  const one = await Daemon.start({ acme: TENANTS.acme });
  t.after(() => one.end());
  await one.ask("acme", event("ls"));
  const { page, close } = await opened(browser, one, { hash: "#/stream" });
  await rowsOf(page).first().waitFor();
  assert.equal(await text(page.locator(".daemon")), "test-1");
  await one.stop();
  one.write("serve.json", { ...JSON.parse(readFileSync(join(one.folder, "serve.json"), "utf8")), name: "test-2" });
  await one.run();
  await rowsOf(page).filter({ hasText: "now from test-2, before from test-1" }).waitFor({ timeout: 30_000 });
  assert.equal(await text(page.locator(".daemon")), "test-2");
  assert.match(await page.title(), /test-2/);
  await close();
});
