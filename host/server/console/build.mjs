// Builds the page: `node build.mjs [FOLDER]`. The result depends on the sources and the locked packages alone.
import { build } from "esbuild";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const to = process.argv[2] ?? "dist";
mkdirSync(to, { recursive: true });
await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: to,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome111", "firefox113", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  banner: { js: "/* hookbox, with Preact (c) Jason Miller and uPlot (c) Leon Sorokin, both MIT: see NOTICE.md */" },
  charset: "utf8",
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) copyFileSync(join("src", name), join(to, name));
