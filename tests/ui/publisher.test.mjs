// A hook of a registry, signed by its publisher: the page and the records name them. Needs Debian's `docker-registry`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Daemon, event, freePort, launch, opened, rowsOf, tokenHash } from "./daemon.mjs";

const { HOOKBOX, GUARD, PICTURES } = process.env;
let daemon, browser, registry, host, publisher;

before(async () => {
  browser = await launch();
  daemon = Daemon.prepare({}, await freePort());
  const folder = join(daemon.folder, "registry");
  mkdirSync(folder);
  host = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(folder, "config.yml"), `version: 0.1\nstorage: { filesystem: { rootdirectory: ${folder}/data } }\nhttp: { addr: ${host} }\n`);
  registry = spawn("docker-registry", ["serve", join(folder, "config.yml")], { stdio: "ignore" });
  await new Promise((resolve, reject) => {
    registry.once("error", reject).once("spawn", resolve);
  });
  while (!(await fetch(`http://${host}/v2/`).catch(() => null))?.ok) await new Promise((done) => setTimeout(done, 50));
  publish();
  await daemon.run();
});

after(async () => {
  await browser?.close();
  await daemon?.end();
  registry?.kill();
});

/** Pushes and signs the guard, and writes a tenant that locked it under the policy of its operator. */
function publish() {
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const file = (name) => join(daemon.folder, name);
  writeFileSync(file("hooks.key"), key.privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(file("hooks.pub"), key.publicKey.export({ type: "spki", format: "pem" }));
  const publishers = [{ references: `${host}/acme/*`, mode: "require", keys: [file("hooks.pub")] }];
  mkdirSync(file("home/hookbox"), { recursive: true });
  daemon.write("home/hookbox/registries.json", { registries: { [host]: { private: true } }, publishers });
  const reference = `oci://${host}/acme/guard:1`;
  const tenant = file("tenants/acme");
  mkdirSync(tenant);
  const hooks = { PreToolUse: [{ hooks: [{ type: "wasm", component: reference, name: "signed-guard" }] }] };
  daemon.write("tenants/acme/hooks.json", { hooks });
  const home = Object.fromEntries(["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"].map((name) => [name, file("home")]));
  const hookbox = (...args) =>
    JSON.parse(execFileSync(HOOKBOX, [...args, "--json"], { cwd: tenant, env: { ...process.env, ...home }, encoding: "utf8" }));
  hookbox("push", GUARD, reference);
  publisher = hookbox("sign", reference, "--key", file("hooks.key")).publisher;
  hookbox("lock", "hooks.json");
  daemon.write("tenants/acme.json", { tokens: [tokenHash("acme")], hooks: { claude: "acme/hooks.json" } });
  const settings = JSON.parse(readFileSync(file("serve.json"), "utf8"));
  const registries = { hosts: { [host]: { private: true } }, folder: "fetched", publishers };
  daemon.write("serve.json", { ...settings, registries, records: "records.jsonl" });
}

test("the publisher of a signed hook is on the page and in the records", async () => {
  assert.match(publisher, /^key:sha256:[0-9a-f]{64}$/);
  assert.equal(await daemon.ask("acme", event("rm -rf /")), 200);
  const { page, wrong, close } = await opened(browser, daemon, { hash: "#/hooks?h=acme/claude/hooks/PreToolUse/0/hooks/0" });
  const hook = page.getByRole("article", { name: "signed-guard" });
  await hook.getByText("Publisher").waitFor();
  assert.ok((await hook.innerText()).includes(publisher), await hook.innerText());
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/publisher.png` });
  await page.goto(`${daemon.base}/ui#/stream`);
  await rowsOf(page).first().click();
  const verdict = page.getByRole("article", { name: "Verdict" });
  await verdict.getByText(`published by ${publisher}`).waitFor();
  assert.deepEqual(wrong, []);
  await close();
  const [record] = readFileSync(join(daemon.folder, "records.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual([record.verdict, record.hooks[0].publisher], ["deny", publisher]);
});
