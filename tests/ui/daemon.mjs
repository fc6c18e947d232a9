// A daemon of a test's own, and a browser in front of it. HOOKBOX is the binary, GUARD a component of the command guard;
// CHROMIUM the browser.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const { HOOKBOX, GUARD, CHROMIUM = "/usr/bin/chromium" } = process.env;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const hash = (secret) => `sha256:${createHash("sha256").update(secret).digest("hex")}`;
// Not a word that anybody could guess: the daemon refuses those.
export const OPERATOR = "3f0c-operator-of-the-page";
export const tokenOf = (tenant) => `token of ${tenant}`;
export const SCRIPT = "<img src=x onerror=document.title='owned'>";
export const event = (command, tool = "Bash") => ({
  hook_event_name: "PreToolUse", session_id: "s", tool_name: tool, tool_input: { command },
});

const wasm = (more = {}) => ({ type: "wasm", component: "guard.wasm", ...more });
const group = (...hooks) => ({ hooks: { PreToolUse: [{ hooks }] } });

/** Tenants as an operator may find them: the test that looks at one says its purpose. */
export const TENANTS = {
  acme: { hooks: group(wasm({ name: "guard" })) },
  // A hook in monitor mode that would deny, and one that decides without enough fuel.
  budget: {
    hooks: group(
      wasm({ name: "new-guard", mode: "monitor" }),
      wasm({ name: "starved", limits: { fuel: 1000 }, onFailure: "block" }),
    ),
  },
  globex: { hooks: group(wasm({ name: SCRIPT })) },
  quota: { hooks: group(wasm({ name: "guard" })), quotas: { requestsPerSecond: 1 } },
  slow: {
    hooks: group({ type: "command", command: "sleep 0.15", name: "slow-script" }),
    allow: ["command"], ceiling: { authority: { decide: ["deny", "ask", "allow"] } },
  },
  typo: { hooks: { hooks: { PreToolUse: [{ mathcer: "Bash", hooks: [wasm()] }] } } },
};

export const tokenHash = (name) => hash(tokenOf(name));

export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

export class Daemon {
  folder = mkdtempSync(join(tmpdir(), "hookbox-ui-"));
  agent = new Agent({ keepAlive: true, maxSockets: 32 });

  static async start(tenants = TENANTS) {
    const daemon = Daemon.prepare(tenants, await freePort());
    await daemon.run();
    return daemon;
  }

  /** Writes the files of a daemon, which `run` starts. */
  static prepare(tenants, port) {
    const daemon = new Daemon();
    daemon.base = `http://127.0.0.1:${port}`;
    mkdirSync(join(daemon.folder, "tenants"));
    daemon.write("serve.json", {
      listen: `127.0.0.1:${port}`, tenants: "tenants", operators: [hash(OPERATOR)], state: "state/state.db", name: "test-1",
    });
    copyFileSync(GUARD, join(daemon.folder, "tenants/guard.wasm"));
    for (const [name, { hooks, ...more }] of Object.entries(tenants)) {
      daemon.write(`tenants/${name}.json`, { tokens: [tokenHash(name)], hooks: { claude: `${name}-hooks.json` }, ...more });
      daemon.write(`tenants/${name}-hooks.json`, hooks);
    }
    return daemon;
  }

  write(name, value) {
    writeFileSync(join(this.folder, name), JSON.stringify(value, null, 2));
  }

  async run() {
    this.child = spawn(HOOKBOX, ["serve", "--config", join(this.folder, "serve.json")], {
      stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, XDG_CACHE_HOME: this.folder, XDG_STATE_HOME: this.folder },
    });
    const lines = [];
    await new Promise((resolve, reject) => {
      this.child.once("exit", () => reject(new Error(`the daemon ended:\n${lines.join("\n")}`)));
      createInterface(this.child.stderr).on("line", (line) => {
        lines.push(line);
        if (line.includes("serving on")) resolve();
      });
    });
    for (;;) {
      const { ready } = await (await fetch(`${this.base}/readyz`)).json();
      if (ready) return;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async stop() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill();
    await ended;
  }

  async end() {
    await this.stop();
    this.agent.destroy();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Posts to a tenant; returns the status. */
  ask(tenant, body, path = "") {
    const text = JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const asked = request(
        `${this.base}/v1/${tenant}/claude${path}`,
        { method: "POST", agent: this.agent, headers: { authorization: `Bearer ${tokenOf(tenant)}`, "content-length": Buffer.byteLength(text) } },
        (answer) => answer.resume().on("end", () => resolve(answer.statusCode)).on("error", reject),
      );
      asked.on("error", reject).end(text);
    });
  }

  /** Asks the console's own paths. */
  async api(path, token = OPERATOR) {
    const answer = await fetch(`${this.base}/ui/api/${path}`, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, text: await answer.text() };
  }
}

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

/** Opens the console and signs in. `wrong` has what the browser complains about. */
export async function opened(browser, daemon, { token = OPERATOR, hash: at = "", viewport = { width: 1280, height: 720 }, ...context } = {}) {
  const own = await browser.newContext({ viewport, ...context });
  own.setDefaultTimeout(10_000);
  const page = await own.newPage();
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(daemon.base)) wrong.push(`asks ${request.url()}`);
    if (request.url().includes(encodeURIComponent(token)) || request.url().includes(token)) wrong.push("a token in a URL");
  });
  await page.goto(`${daemon.base}/ui${at}`);
  await page.fill("#token", token);
  await page.click("button[type=submit]");
  await page.locator("nav").or(page.locator("[role=alert]:not(:empty)")).first().waitFor();
  return { page, wrong, close: () => own.close() };
}

/** The verdicts in the list. */
export const rowsOf = (page) => page.getByRole("listbox").getByRole("option");

/** What axe-core finds, a line each. */
export async function violations(page) {
  await page.evaluate(AXE);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  }));
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`));
}

/** Adds up how much the page moved what was there already. */
export const watchShift = (page) =>
  page.evaluate(() => {
    window.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
