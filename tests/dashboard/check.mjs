// Checks the dashboard against Grafana's types: its values, and that it has no other keys. tsc reports the errors.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const folder = import.meta.dirname;
const schema = join(folder, "node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript")), "tsc.js");
const OPTIONS = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"];

/** The errors of tsc about a dashboard. An empty text if it is valid. */
function errors(dashboard) {
  const place = mkdtempSync(join(folder, "node_modules/.dashboard-"));
  const file = join(place, "dashboard.ts");
  // JSON has the words of an enum, which are no values of the enum itself.
  writeFileSync(file, `import type { Dashboard } from ${JSON.stringify(schema)};
type Json<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
export const dashboard: Json<Dashboard> = ${JSON.stringify(dashboard, null, 1)};
`);
  try {
    execFileSync(process.execPath, [tsc, ...OPTIONS, file], { encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (error) {
    return error.stdout || error.message;
  } finally {
    rmSync(place, { recursive: true });
  }
}

const dashboard = JSON.parse(readFileSync(join(folder, "../../deploy/grafana/hookbox.json"), "utf8"));
const found = errors(dashboard);
if (found) throw new Error(`deploy/grafana/hookbox.json:\n${found}`);
// The check finds a misspelt key, a wrong type and an unknown word.
const [panel, ...others] = dashboard.panels;
for (const wrong of [{ titel: "x" }, { gridPos: { ...panel.gridPos, w: "12" } }, { repeatDirection: "x" }]) {
  if (!errors({ ...dashboard, panels: [{ ...panel, ...wrong }, ...others] })) throw new Error(`not found: ${JSON.stringify(wrong)}`);
}
console.log(`${dashboard.panels.length} panels follow Grafana's types`);
