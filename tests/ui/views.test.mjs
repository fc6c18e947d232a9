// Each view with a daemon in which something is wrong.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Daemon, event, launch, opened, rowsOf, violations, watchShift } from "./daemon.mjs";

const { PICTURE, PICTURES } = process.env;
let daemon, browser;

before(async () => {
  daemon = await Daemon.start();
  browser = await launch();
  for (const command of ["ls", "rm -rf /", "cargo test", "git push"]) assert.equal(await daemon.ask("acme", event(command)), 200);
  for (let n = 0; n < 25; n++) await daemon.ask("budget", event(n % 5 ? "ls" : "rm -rf /"));
  await Promise.all(Array.from({ length: 10 }, () => daemon.ask("quota", event("ls"))));
  await Promise.all(Array.from({ length: 24 }, () => daemon.ask("slow", event("ls"))));
});

after(async () => {
  await browser?.close();
  await daemon?.end();
});

const text = (locator) => locator.innerText();

test("the hook that decided is named, and not the one that is only monitored", async () => {
  const { page, wrong, close } = await opened(browser, daemon, { hash: "#/stream?tenant=budget" });
  const row = rowsOf(page).first();
  assert.match(await text(row), /deny[\s\S]*budget[\s\S]*starved/);
  await row.click();
  const panel = page.getByRole("article", { name: "Verdict" });
  await panel.getByText("Decided by").waitFor();
  assert.match(await text(panel), /Decided by\s+starved/);
  const explained = await text(panel.getByLabel("Explanation"));
  assert.match(explained, /\nby +2 +starved\n/);
  assert.match(explained, /new-guard .*\(monitor\)/);
  assert.equal(await panel.locator("li.decided .part-name").innerText(), "starved");
  assert.match(await text(panel.locator("blockquote")), /\.md#/);
  assert.deepEqual(wrong, []);
  await close();
});

test("the stream is filtered by chips, words and values, and the link has all of it", async () => {
  const { page, wrong, close } = await opened(browser, daemon, { hash: "#/stream" });
  const rows = rowsOf(page);
  await rows.first().waitFor();
  await page.getByRole("button", { name: "Denied", exact: true }).click();
  await page.getByRole("combobox", { name: "Add a filter" }).selectOption("tenant:acme");
  await page.waitForFunction(() => document.querySelectorAll(".virtual [role=option]").length === 1);
  await page.getByRole("searchbox").fill("dangerous nothing-has-this");
  await page.getByText("No verdict matches.").waitFor();
  await page.getByRole("searchbox").fill("bash guard");
  await rows.first().waitFor();
  const address = page.url();
  assert.match(address, /#\/stream\?.*only=denied.*tenant=acme.*q=bash\+guard/);
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await rows.nth(5).waitFor();
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForFunction(() => document.querySelectorAll(".virtual [role=option]").length === 1);
  // Live, and held while it is paused.
  await page.goto(`${daemon.base}/ui#/stream?tenant=acme`);
  await rows.nth(3).waitFor();
  const before = await rows.count();
  await page.getByRole("button", { name: "Pause" }).click();
  await daemon.ask("acme", event("echo held"));
  await page.getByRole("button", { name: "Resume (1 new)" }).click();
  await page.waitForFunction((n) => document.querySelectorAll(".virtual [role=option]").length === n + 1, before);
  assert.deepEqual(wrong, []);
  await close();
});

test("a verdict has a link that can be shared, and is a case for `hookbox test`", async () => {
  const { page, wrong, close } = await opened(browser, daemon, { hash: "#/stream?tenant=acme&only=denied" });
  await rowsOf(page).first().click();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = async (name) => {
    await page.getByRole("button", { name }).click();
    await page.getByRole("button", { name }).getByText("✓").waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.match(await copied("Copy as test case"), /^- name: "deny PreToolUse Bash"\n[\s\S]*decision: "deny"\n {4}output: \{/);
  assert.match(await copied("Copy explanation"), /^PreToolUse  Bash  under claude/);
  const shared = await copied("Copy link");
  assert.match(shared, /\/ui#\/verdict\/[0-9a-f]+-[0-9a-f]{16}$/);
  await page.goto("about:blank");
  await page.goto(shared);
  await page.getByRole("article").getByText("Decided by").waitFor();
  await page.goto(`${daemon.base}/ui#/verdict/0-1`);
  await page.getByRole("alert").filter({ hasText: "no longer available" }).waitFor();
  // The browser reports the 404 itself.
  assert.deepEqual(wrong.filter((line) => !line.includes("404")), []);
  await close();
});

test("tenants and health say what is used and what is refused", async () => {
  const { page, wrong, close } = await opened(browser, daemon, { hash: "#/tenants" });
  await page.getByRole("row").filter({ hasText: "acme" }).waitFor();
  assert.match(await text(page.getByRole("row").filter({ hasText: "typo" })), /refused/);
  await page.goto(`${daemon.base}/ui#/health`);
  await page.getByText("Components running").waitFor();
  const health = await text(page.locator("main"));
  for (const words of [/State\s+ready/, /wasmtime \d/, /responds/, /unknown key `mathcer`/, /over-quota\s+\d/, /test-1/]) assert.match(health, words);
  assert.deepEqual(wrong, []);
  await close();
});

const VIEWS = ["now", "stream", "hooks", "tenants", "health"];
// The narrowest and the widest once: their layout is the same in both.
const WIDTHS = {
  dark: [[360, 740], [390, 844], [1280, 800], [2560, 1440]],
  light: [[390, 844], [1280, 800], [2560, 1440], [3840, 2160]],
};
for (const colorScheme of ["dark", "light"]) {
  for (const [width, height] of WIDTHS[colorScheme]) {
    test(`every view at ${width} px, ${colorScheme}: axe finds nothing, nothing moves, nothing is cut off`, async () => {
      const { page, wrong, close } = await opened(browser, daemon, { viewport: { width, height }, colorScheme });
      const shots = [...VIEWS.map((view) => [view, `#/${view}`]), ["hook", "#/hooks?h=budget/claude/hooks/PreToolUse/0/hooks/1"], ["tenant", "#/tenants?t=typo"]];
      for (const [name, hash] of shots) {
        await page.goto("about:blank");
        await page.goto(`${daemon.base}/ui${hash}`);
        await watchShift(page);
        await page.locator("main :is(table, .cards, [role=listbox], article)").locator("visible=true").first().waitFor();
        await page.waitForTimeout(300);
        if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png` });
        assert.deepEqual(await violations(page), [], name);
        const { wide, shift } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, shift: window.shift }));
        assert.ok(wide <= width, `${name} is ${wide} px wide`);
        assert.ok(shift < 0.02, `${name} moves by ${shift}`);
      }
      await page.goto(`${daemon.base}/ui#/stream?tenant=budget`);
      await rowsOf(page).first().click();
      await page.getByRole("article").getByText("Decided by").waitFor();
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/verdict-${width}-${colorScheme}.png` });
      assert.deepEqual(await violations(page), [], "verdict");
      await page.locator(".view-stream, .view-verdict").first().waitFor();
      if (PICTURE && width === 1280 && colorScheme === "light") await picture(page);
      assert.deepEqual(wrong, []);
      await close();
    });
  }
}

test("the sign-in, and a daemon that has no verdict yet", async (t) => {
  const quiet = await Daemon.start({ acme: { hooks: { hooks: {} } } });
  t.after(() => quiet.end());
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${quiet.base}/ui`);
  await page.getByLabel("Token").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.fill("#token", "nobody's token");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "does not know this token" }).waitFor();
  await page.close();
  for (const hash of ["", "#/stream"]) {
    const { page: inside, wrong, close } = await opened(browser, quiet, { hash });
    await inside.getByText("No verdict yet.").waitFor();
    await inside.locator(".empty pre").filter({ hasText: `${quiet.base}/v1/acme/claude` }).waitFor();
    if (PICTURES) await inside.screenshot({ path: `${PICTURES}/empty${hash ? "-stream" : ""}.png` });
    assert.deepEqual(await violations(inside), []);
    assert.deepEqual(wrong, []);
    await close();
  }
});

/** The picture of the documentation. */
async function picture(page) {
  await page.goto(`${daemon.base}/ui#/now`);
  await page.locator(".chart").nth(3).waitFor();
  await page.waitForTimeout(500);
  await page.screenshot({ path: PICTURE });
}
