// Who sees what, with the keyboard alone, and what comes from others.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Daemon, event, launch, opened, rowsOf, OPERATOR, SCRIPT, TENANTS, tokenOf } from "./daemon.mjs";

let daemon, browser;

before(async () => {
  daemon = await Daemon.start({ acme: TENANTS.acme, globex: TENANTS.globex });
  browser = await launch();
  await daemon.ask("acme", event("rm -rf / acme-only"));
  await daemon.ask("globex", event(`rm -rf / ${SCRIPT}`, SCRIPT));
});

after(async () => {
  await browser?.close();
  await daemon?.end();
});

test("strings of a hostile tenant are only ever text", async () => {
  const { page, wrong, close } = await opened(browser, daemon, { hash: "#/stream?tenant=globex" });
  const row = rowsOf(page).first();
  assert.match(await row.innerText(), /<img src=x onerror/);
  await row.click();
  await page.getByRole("article").getByText("Decided by").waitFor();
  assert.match(await page.getByRole("article", { name: "Verdict" }).innerText(), /<img src=x onerror/);
  for (const view of ["now", "hooks", "tenants", "health", "hooks?h=globex/claude/hooks/PreToolUse/0/hooks/0"]) {
    await page.goto(`${daemon.base}/ui#/${view}`);
    await page.locator("main :is(table, .cards, article)").locator("visible=true").first().waitFor();
    assert.equal(await page.locator("img:not([src='/ui/icon.svg']), main script, iframe").count(), 0, view);
  }
  // Nor is what a link says.
  await page.goto(`${daemon.base}/ui#/${encodeURIComponent(SCRIPT)}?tenant=${encodeURIComponent(SCRIPT)}&q=${encodeURIComponent(SCRIPT)}`);
  await page.getByText("There is no such view").waitFor();
  await page.goto(`${daemon.base}/ui#/stream?q=${encodeURIComponent(SCRIPT)}&hook=${encodeURIComponent(SCRIPT)}`);
  await rowsOf(page).first().waitFor();
  assert.doesNotMatch(await page.title(), /owned/);
  assert.deepEqual(wrong, []);
  await close();
});

test("a tenant's owner sees the tenant, and not that there are others", async () => {
  const { page, wrong, close } = await opened(browser, daemon, { token: tokenOf("acme"), hash: "#/stream" });
  await rowsOf(page).first().waitFor();
  assert.equal(await rowsOf(page).count(), 1);
  for (const view of ["now", "hooks", "tenants", "health", "stream", "now?tenant=globex", "stream?tenant=globex", "hooks?tenant=globex"]) {
    await page.goto(`${daemon.base}/ui#/${view}`);
    await page.waitForTimeout(150);
    const shown = await page.locator("body").innerText();
    assert.doesNotMatch(shown.replace(/globex( ✕|$)/gm, ""), /onerror|Listens on/, view);
  }
  await close();
  assert.deepEqual(wrong.filter((line) => !line.includes("404")), []);
  // The same of what it asks for, whatever it asks.
  const globex = JSON.parse((await daemon.api("tenants?tenant=globex")).text).tenants;
  assert.equal(globex.length, 1);
  for (const path of ["me", "now", "now?window=7d", "attention", "hooks", "tenants", "health"]) {
    const { status, text } = await daemon.api(path, tokenOf("acme"));
    assert.equal(status, 200, path);
    assert.doesNotMatch(text, /globex|onerror/, path);
  }
  for (const path of ["now?tenant=globex", "hooks?tenant=globex", "tenants?tenant=globex", "attention?tenant=nobody"]) {
    assert.equal((await daemon.api(path, tokenOf("acme"))).status, 404, path);
  }
  const streamed = async (token, until) => {
    const feed = await fetch(`${daemon.base}/ui/api/stream`, { headers: { authorization: `Bearer ${token}` } });
    const reader = feed.body.getReader();
    let text = "";
    while (!text.includes(until)) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    return { text, ids: [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id) };
  };
  const own = await streamed(tokenOf("acme"), "acme");
  assert.doesNotMatch(own.text, /globex|onerror/);
  const all = await streamed(OPERATOR, "globex");
  const other = all.ids.find((id) => !own.ids.includes(id));
  assert.equal((await daemon.api(`verdicts/${other}`, OPERATOR)).status, 200);
  assert.equal((await daemon.api(`verdicts/${other}`, tokenOf("acme"))).status, 404);
});

test("a stranger learns nothing, and a token in a URL is ignored", async () => {
  for (const path of ["me", "now", "attention", "hooks", "tenants", "health", "stream", "verdicts/0-1"]) {
    const answer = await fetch(`${daemon.base}/ui/api/${path}?token=${encodeURIComponent(OPERATOR)}`);
    assert.equal(answer.status, 401, path);
    assert.doesNotMatch(await answer.text(), /acme|globex/);
  }
  const { page, close } = await opened(browser, daemon, { token: "nobody" });
  await page.getByRole("alert").filter({ hasText: "does not know" }).waitFor();
  assert.equal(await page.locator("nav").count(), 0);
  await close();
});

test("a token that is taken back ends the session and the stream", async (t) => {
  const files = await Daemon.start({ acme: TENANTS.acme });
  t.after(() => files.end());
  await files.ask("acme", event("ls"));
  const { page, close } = await opened(browser, files, { token: tokenOf("acme"), hash: "#/stream" });
  await rowsOf(page).first().waitFor();
  const feed = await fetch(`${files.base}/ui/api/stream`, { headers: { authorization: `Bearer ${tokenOf("acme")}` } });
  files.write("tenants/acme.json", { tokens: [`sha256:${"0123456789abcdef".repeat(4).replace("0", "9")}`], hooks: { claude: "acme-hooks.json" } });
  // It ends, or the test does not.
  for await (const _ of feed.body);
  await page.getByRole("alert").filter({ hasText: "does not know this token" }).waitFor();
  assert.equal(await rowsOf(page).count(), 0);
  await close();
});

test("everything is reached with the keyboard alone", async () => {
  const { page, wrong, close } = await opened(browser, daemon);
  await page.locator("table").first().waitFor();
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  await page.evaluate(() => document.activeElement.blur());
  await press("Tab");
  assert.match(await focused(), /Skip to the content/);
  await press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  await press("2");
  await page.getByRole("listbox").waitFor();
  await press("j", "j");
  assert.equal(await page.locator("[aria-selected=true]").count(), 1);
  await page.getByRole("listbox").focus();
  await press("Home", "ArrowDown", "Enter");
  await page.getByRole("article").getByText("Decided by").waitFor();
  await press("Escape");
  await page.getByRole("article").waitFor({ state: "detached" });
  await press("/");
  await page.keyboard.type("globex");
  await page.waitForFunction(() => document.querySelectorAll(".virtual [role=option]").length === 1);
  // What is typed into a field is not a shortcut.
  await page.keyboard.type("5");
  assert.match(page.url(), /stream/);
  await press("Escape", "p");
  await page.getByRole("button", { name: /Resume/ }).waitFor();
  await press("5");
  await page.getByText("Components running").waitFor();
  await press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await dialog.waitFor();
  // The keys can be turned off.
  await page.getByLabel("Single-key shortcuts").focus();
  await press("Space", "Escape");
  await dialog.waitFor({ state: "detached" });
  await press("1");
  assert.match(page.url(), /health/);
  await page.getByRole("link", { name: "Hooks" }).focus();
  await press("Enter");
  await page.getByRole("link", { name: "guard" }).focus();
  await press("Enter");
  await page.getByRole("article", { name: "guard" }).waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test("a phone has all of it", async () => {
  const { page, wrong, close } = await opened(browser, daemon, {
    viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2,
  });
  await page.getByRole("link", { name: "Stream" }).tap();
  await rowsOf(page).filter({ hasText: "acme" }).tap();
  await page.getByRole("article").getByText("Decided by").waitFor();
  await page.getByRole("button", { name: "Close" }).tap();
  await rowsOf(page).first().waitFor();
  await page.getByRole("link", { name: "Health" }).tap();
  await page.getByText("Components running").waitFor();
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  assert.deepEqual(wrong, []);
  await close();
});
