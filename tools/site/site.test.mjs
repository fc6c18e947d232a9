// Pages of the site in Chromium: no finding of axe, no request to another host, no page wider than the window.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
const PAGES = ["index.html", "install.html", "cli.html", "configuration.html", "security.html", "use/claude-code.html"];

let browser, server, base;

before(async () => {
  server = createServer((request, response) => {
    const file = join(process.env.SITE, decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    try {
      const content = readFileSync(file);
      response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
      response.end(content);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  base = `http://127.0.0.1:${server.address().port}`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  server?.close();
});

for (const [width, height] of [[1280, 900], [390, 844]]) {
  for (const name of PAGES) {
    test(`${name} at ${width} pixels`, async () => {
      const page = await browser.newPage({ viewport: { width, height } });
      const elsewhere = [];
      page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(base) && !url.startsWith("data:")) elsewhere.push(url);
      });
      await page.goto(`${base}/${name}`, { waitUntil: "networkidle" });
      await page.addScriptTag({ path: AXE });
      // The corner of a table may be empty.
      const rules = { "empty-table-header": { enabled: false } };
      const { violations } = await page.evaluate((rules) => globalThis.axe.run({ rules }), rules);
      assert.deepEqual(violations.map((found) => [found.id, found.nodes.map((node) => node.html.slice(0, 200))]), []);
      assert.deepEqual(elsewhere, []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the window");
      await page.close();
    });
  }
}

test("a word is found", async () => {
  const page = await browser.newPage();
  await page.goto(`${base}/index.html?search=authority`, { waitUntil: "networkidle" });
  await page.waitForSelector("#mdbook-searchresults li a, #searchresults li a");
  await page.close();
});
