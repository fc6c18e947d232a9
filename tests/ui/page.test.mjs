// The daemon's page in a real browser. HOOKBOX is the binary, GUARD a component of the command guard; CHROMIUM the browser.
// PICTURE, when it is given, is where the picture of the documentation goes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const { HOOKBOX, GUARD, PICTURE, CHROMIUM = "/usr/bin/chromium" } = process.env;
const hash = (secret) => `sha256:${createHash("sha256").update(secret).digest("hex")}`;
// Not a word that anybody could guess: the daemon refuses those.
const OPERATOR = "3f0c-operator-of-the-page";
const folder = mkdtempSync(join(tmpdir(), "hookbox-ui-"));
let daemon, base, browser;

const write = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value));
const event = (command, tool = "Bash") => ({ hook_event_name: "PreToolUse", session_id: "s", tool_name: tool, tool_input: { command } });
const ask = async (tenant, body) => {
  const answer = await fetch(`${base}/v1/${tenant}/claude`, {
    method: "POST", body: JSON.stringify(body), headers: { authorization: `Bearer token of ${tenant}` },
  });
  assert.equal(answer.status, 200, await answer.clone().text());
};

before(async () => {
  mkdirSync(join(folder, "tenants"));
  write("serve.json", { listen: "127.0.0.1:0", tenants: "tenants", operators: [hash(OPERATOR)], state: "state/state.db" });
  copyFileSync(GUARD, join(folder, "tenants/guard.wasm"));
  for (const tenant of ["acme", "globex"]) {
    write(`tenants/${tenant}.json`, { tokens: [hash(`token of ${tenant}`)], hooks: { claude: `${tenant}-hooks.json` } });
    // A name that would be a script, were it taken for one.
    const name = tenant === "globex" ? "<img src=x onerror=document.title='owned'>" : "guard";
    write(`tenants/${tenant}-hooks.json`, { hooks: { PreToolUse: [{ hooks: [{ type: "wasm", component: "guard.wasm", name }] }] } });
  }
  daemon = spawn(HOOKBOX, ["serve", "--config", join(folder, "serve.json")], {
    stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, XDG_CACHE_HOME: folder, XDG_STATE_HOME: folder },
  });
  base = await new Promise((resolve, reject) => {
    daemon.on("exit", () => reject(new Error("the daemon ended")));
    createInterface(daemon.stderr).on("line", (line) => {
      const found = /serving on (.*)$/.exec(line);
      if (found) resolve(`http://${found[1]}`);
    });
  });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  daemon?.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function opened(token) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 620 } });
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => request.url().startsWith(base) || wrong.push(`asks ${request.url()}`));
  await page.goto(`${base}/ui`);
  await page.fill("#token", token);
  await page.click("#login button");
  return { page, wrong };
}

test("verdicts are seen as they are made", async () => {
  for (const command of ["ls", "rm -rf /", "cargo test"]) await ask("acme", event(command));
  const { page, wrong } = await opened(OPERATOR);
  const rows = page.locator("#verdicts tbody tr");
  await rows.nth(2).waitFor();
  assert.equal(await rows.count(), 3);
  assert.match(await rows.nth(1).innerText(), /acme\s+PreToolUse\s+Bash\s+guard\s+deny/);
  // Live.
  await ask("acme", event("git push"));
  await rows.nth(3).waitFor();
  // Filtered.
  await page.fill("#filter", "deny");
  await page.waitForFunction(() => document.querySelectorAll("#verdicts tbody tr").length === 1);
  // One opened, with what `explain` says, and its picture.
  await rows.first().click();
  const detail = await page.locator("#detail pre").innerText();
  assert.match(detail, /under claude/);
  assert.match(detail, /\nclause +\S+\.md#/);
  assert.ok(await page.locator("#latency rect").count() >= 4);
  assert.ok(await page.locator("#fuel rect").count() >= 4);
  await page.fill("#filter", "");
  if (PICTURE) await page.screenshot({ path: PICTURE });
  assert.ok(!page.url().includes(OPERATOR), page.url());
  assert.deepEqual(wrong, []);
  await page.close();
});

test("what comes from others is only ever text", async () => {
  const script = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>";
  await ask("globex", event(`rm -rf / ${script}`, script));
  const { page, wrong } = await opened(OPERATOR);
  const row = page.locator("#verdicts tbody tr").first();
  await row.waitFor();
  await page.selectOption("#tenant", "globex");
  await row.click();
  assert.match(await page.locator("#detail pre").innerText(), /<img src=x onerror/);
  assert.match(await row.innerText(), /<script>/);
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.equal(await page.title(), "hookbox");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("without the operator's token there is nothing to see", async () => {
  const { page } = await opened("token of acme");
  await page.locator("#message", { hasText: "not an operator" }).waitFor();
  assert.ok(await page.locator("#main").isHidden());
  assert.equal(await page.locator("#verdicts tbody tr").count(), 0);
  await page.close();
});
