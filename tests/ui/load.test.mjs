// Many verdicts, a restart, and a thousand verdicts a second. Speed is printed, and not asserted: it is the machine's.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Daemon, event, launch, opened, rowsOf, TENANTS } from "./daemon.mjs";

const { PICTURES } = process.env;
const VERDICTS = Number(process.env.VERDICTS ?? 20_000);
const RATE = 1000;
let daemon, browser;

before(async () => {
  // No hook is asked, so that the browser is what is measured and not the sandbox.
  daemon = await Daemon.start({ acme: { hooks: { hooks: {} } }, other: TENANTS.acme });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await daemon?.end();
});

const batch = (size, from = 0) => Array.from({ length: size }, (_, n) => event(`echo ${from + n}`, `Tool${(from + n) % 7}`));

test(`${VERDICTS} verdicts: the last 10,000 are there, in a document of few rows`, async () => {
  const begin = performance.now();
  for (let n = 0; n < VERDICTS; n += 1000) assert.equal(await daemon.ask("acme", batch(1000, n), "/batch"), 200);
  console.log(`# ${VERDICTS} verdicts asked for in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  const { page, wrong, close } = await opened(browser, daemon, { hash: "#/stream" });
  await page.getByText(/of 10,000/).waitFor();
  const list = page.getByRole("listbox");
  const seen = await rowsOf(page).count();
  assert.ok(seen < 80, `${seen} rows are in the document`);
  // To the oldest and back, and through a filter.
  await list.focus();
  const measured = await page.evaluate(async () => {
    const box = document.querySelector("[role=listbox]");
    const begin = performance.now();
    for (let n = 0; n <= 40; n++) {
      box.scrollTop = (n / 40) * box.scrollHeight;
      await new Promise(requestAnimationFrame);
    }
    return performance.now() - begin;
  });
  console.log(`# 41 jumps through 10,000 rows in ${measured.toFixed(0)} ms`);
  assert.equal(await page.locator("[role=option][aria-posinset='10000']").count(), 1);
  await page.getByText("Older verdicts are not kept here.").waitFor();
  const filtered = performance.now();
  await page.getByRole("searchbox").fill("tool3");
  await page.waitForFunction(() => {
    const size = Number(document.querySelector(".virtual [role=option]")?.getAttribute("aria-setsize"));
    return size > 1400 && size < 1440;
  });
  console.log(`# a filter over 10,000 rows in ${(performance.now() - filtered).toFixed(0)} ms`);
  const now = JSON.parse((await daemon.api("now?window=7d&tenant=acme")).text);
  assert.equal(now.sum.decisions, VERDICTS);
  assert.deepEqual(wrong, []);
  await close();
});

test("after a restart the page goes on, and the history has the time before it", async () => {
  const { page, close } = await opened(browser, daemon, { hash: "#/stream?tenant=other" });
  await daemon.ask("other", event("before"));
  await rowsOf(page).first().waitFor();
  await daemon.stop();
  await page.getByRole("status").filter({ hasText: "Not connected" }).waitFor();
  // Two steps of the finest chart, so that at least one has no point.
  await new Promise((done) => setTimeout(done, 10_500));
  await daemon.run();
  await page.getByRole("status").filter({ hasText: "Live" }).waitFor({ timeout: 30_000 });
  await daemon.ask("other", event("rm -rf / after"));
  await rowsOf(page).filter({ hasText: "test-1 started again" }).waitFor();
  await rowsOf(page).filter({ hasText: "deny" }).waitFor();
  // A page that is opened now says where its verdicts begin.
  const late = await opened(browser, daemon, { hash: "#/stream?tenant=other" });
  await late.page.getByText(/^test-1 started \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\. Earlier verdicts are not kept here\.$/).waitFor();
  assert.equal(await rowsOf(late.page).count(), 1);
  await late.close();
  const now = JSON.parse((await daemon.api("now?window=7d")).text);
  assert.equal(now.starts.length, 2);
  assert.ok(now.sum.decisions >= VERDICTS + 2, `${now.sum.decisions}`);
  // Between the two starts there are steps without a point, and then points again.
  const { decisions, from, step } = JSON.parse((await daemon.api("now?window=15m")).text).columns;
  const slot = (at) => Math.floor((at - from) / step);
  const [first, second] = now.starts.map(slot);
  assert.ok(decisions.slice(first, second).includes(null), `${decisions.slice(first, second)}`);
  assert.notEqual(decisions[second], null);
  await page.goto(`${daemon.base}/ui#/now`);
  await page.locator(".chart").first().waitFor();
  await page.getByRole("img", { name: "Decisions: all" }).waitFor();
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/restart.png` });
  await close();
});

test(`${RATE} verdicts a second`, async () => {
  const { page, wrong, close } = await opened(browser, daemon, { hash: "#/stream" });
  await page.getByRole("listbox").or(page.getByText("No verdict yet.")).first().waitFor();
  const before = JSON.parse((await daemon.api("now?window=7d&tenant=acme")).text).sum.decisions;
  const frames = page.evaluate(async (time) => {
    const gaps = [];
    let last = performance.now();
    const end = last + time;
    while (last < end) {
      const now = await new Promise(requestAnimationFrame);
      gaps.push(now - last);
      last = now;
    }
    return gaps.slice(1);
  }, 6000);
  for (let n = 0; n < 60; n++) {
    const due = new Promise((done) => setTimeout(done, 100));
    await Promise.all([daemon.ask("acme", batch(RATE / 10, n * 100), "/batch"), due]);
  }
  const gaps = (await frames).sort((one, other) => one - other);
  const late = gaps.filter((gap) => gap > 34).length;
  const at = (part) => gaps[Math.floor(part * (gaps.length - 1))].toFixed(1);
  console.log(`# ${gaps.length} frames in 6 s at ${RATE} verdicts a second: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms, ${late} dropped (more than two frames late)`);
  const counted = JSON.parse((await daemon.api("now?window=7d&tenant=acme")).text).sum.decisions - before;
  assert.equal(counted, 60 * (RATE / 10));
  await page.waitForFunction(() => document.querySelector(".virtual [role=option]")?.textContent.includes("Tool"));
  assert.deepEqual(wrong, []);
  await close();
});
