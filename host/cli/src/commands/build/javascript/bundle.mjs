// node bundle.mjs FOLDER: makes one module of a hook and all it imports, hook.js, and its world, wit/hook.wit. On stdout
// is what was found; whatever is wrong is on stderr, in esbuild's words.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

import esbuild from "esbuild";

import { fail, lineTable } from "./common.mjs";

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const folder = process.argv[2];
const SDK = "@hookbox/guest";
const ENTRIES = ["hook", "src/hook", "index", "src/index"].flatMap((name) => [`${name}.ts`, `${name}.js`]);

const read = (...path) => readFileSync(join(...path), "utf8");
const manifest = readManifest();
const entry = findEntry();
const events = readEvents();
const hook = await bundle({ entryPoints: [entry] });
const handled = findHandlers(outputOf(hook).exports);
const whole = await bundle({ stdin: { contents: glue(), resolveDir: folder }, sourcemap: "external" });
const [map, code] = whole.outputFiles;
const inputs = Object.keys(whole.metafile.inputs).sort();
const table = { ...lineTable(JSON.parse(map.text), authored), handlers: handlerLines() };
const world = worldOf(outputOf(whole).imports.filter(({ external }) => external));
writeFileSync(join(here, "hook.js"), `${withoutPlaces(code.text)}\nglobalThis.__hookboxLines = ${JSON.stringify(table)};\n`);
writeFileSync(join(here, "wit/hook.wit"), world);
console.log(
  JSON.stringify({
    name: manifest.name?.split("/").pop() ?? basename(folder),
    digest: digest(),
    typescript: entry.endsWith(".ts"),
    sdk: sdkVersion(),
    tools: toolVersions(),
  }),
);

function readManifest() {
  try {
    return JSON.parse(read(folder, "package.json"));
  } catch (error) {
    return fail(`package.json: ${error.message}`);
  }
}

function findEntry() {
  const found = [manifest.main, ...ENTRIES].find((file) => file !== undefined && existsSync(join(folder, file)));
  return found ?? fail(`${folder} has no ${ENTRIES.slice(0, 4).join(", ")} and no \`main\` in its package.json`);
}

/** The events of the contract, by the names of their handlers. */
function readEvents() {
  const events = new Map();
  for (const file of readdirSync(join(here, "wit/deps/hooks"))) {
    const text = read(here, "wit/deps/hooks", file);
    const [, version] = /^package hookbox:hooks@(.+);/.exec(text);
    const camel = file.replace(".wit", "").replace(/-(.)/g, (_, letter) => letter.toUpperCase());
    const name = `on${camel[0].toUpperCase()}${camel.slice(1)}`;
    if (text.includes("handle: func")) events.set(name, { camel, wit: `hookbox:hooks/${file.replace(".wit", "")}@${version}` });
  }
  return events;
}

async function bundle(options) {
  try {
    return await esbuild.build({
      absWorkingDir: folder,
      outdir: ".",
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      platform: "neutral",
      target: "esnext",
      // Promises are the SDK's, because the engine's own go on only after a call.
      supported: { "async-await": false, "async-generator": false, "for-await": false, "top-level-await": false },
      mainFields: ["module", "main"],
      conditions: ["hookbox", "module"],
      external: ["hookbox:*", "wasi:*"],
      define: { "process.env.NODE_ENV": '"production"' },
      charset: "utf8",
      legalComments: "none",
      logLevel: "silent",
      ...options,
    });
  } catch (error) {
    const errors = error.errors ?? [];
    const told = advice(errors);
    // There is no other platform to bundle for.
    for (const one of errors) one.notes = one.notes.filter(({ text }) => !/platform: 'node'|mark the path/.test(text));
    const texts = await esbuild.formatMessages(errors, { kind: "error", color: process.stderr.isTTY });
    process.stderr.write(texts.join(""));
    return fail(errors.length === 0 ? error.message : told);
  }
}

/** What to do, where esbuild cannot know. */
function advice(errors) {
  const said = errors.flatMap(({ text, notes }) => [text, ...notes.map((note) => note.text)]).join("\n");
  if (said.includes("built into node") || said.includes('resolve "node:')) {
    return `a hook has no Node.js: no files, no sockets, no processes. For HTTP there is \`http\` of ${SDK}; a package that needs more of Node cannot be used`;
  }
  const [, missing] = /Could not resolve "((?:@[^/"]+\/)?[^./"][^/"]*)/.exec(said) ?? [];
  if (missing !== undefined && !existsSync(join(folder, "node_modules"))) {
    const command = existsSync(join(folder, "package-lock.json")) ? "ci" : "install";
    return `the packages are not installed\n   to install them:   npm ${command} --ignore-scripts`;
  }
  if (missing !== undefined) return `${missing} is not installed\n   to install it:   npm install --ignore-scripts ${missing}`;
  if (said.includes("Top-level await")) return "a hook is started when it is built, and nothing can be waited for then: await in the handler";
  return "esbuild could not bundle it";
}

/** The event that was probably meant: at most a third of its letters are different, capitals aside. */
function meant(word) {
  const [best] = [...events.keys()]
    .map((name) => ({ name, far: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, far }) => far <= name.length / 3)
    .sort((one, other) => one.far - other.far);
  return best === undefined ? "" : ` (did you mean \`${best.name}\`?)`;
}

/** How many letters have to be added, taken away or replaced. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (let index = 0; index < other.length; index++) {
      next.push(Math.min(next[index] + 1, row[index + 1] + 1, row[index] + (letter === other[index] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1);
}

function outputOf({ metafile }) {
  return Object.values(metafile.outputs).find((output) => output.entryPoint !== undefined);
}

function findHandlers(names) {
  const unknown = names.find((name) => !events.has(name) && (/^on[A-Z]/.test(name) || (/^on/i.test(name) && meant(name) !== "")));
  const known = [...events.keys()].join(", ");
  if (unknown !== undefined) fail(`${entry} exports \`${unknown}\`, which is not an event${meant(unknown)}\n   the events are ${known}`);
  const found = names.filter((name) => events.has(name)).sort();
  return found.length > 0 ? found : fail(`${entry} handles no event: it exports none of ${known}`);
}

/** Where each handler is exported, as far as the entry itself shows it. */
function handlerLines() {
  const lines = read(folder, entry).split("\n");
  const lineOf = (name) => lines.findIndex((line) => new RegExp(`^\\s*export\\b.*\\b${name}\\b`).test(line)) + 1;
  return Object.fromEntries(handled.map((name) => [name, lineOf(name)]).filter(([, line]) => line > 0).map(([name, line]) => [name, `${entry}:${line}`]));
}

/** The module that is built: what JavaScript is expected to have, and the handlers under their names in the contract. */
function glue() {
  const lines = [`import "${SDK}/globals";`];
  // Large, and few hooks read URLs.
  if (/\bURL(SearchParams)?\b/.test(hook.outputFiles[0].text)) lines.push(`import ${path(join(here, "url.mjs"))};`);
  for (const name of handled) {
    const { camel } = events.get(name);
    lines.push(`import { ${name} } from ${path(join(folder, entry))};`, `import { ${camel} as of_${camel} } from "${SDK}/events";`);
    lines.push(`export const ${camel} = of_${camel}(${name});`);
  }
  return lines.join("\n");
}

function path(file) {
  return JSON.stringify(file.replaceAll("\\", "/"));
}

/** Exports are subscriptions, imports are the permission request. */
function worldOf(imports) {
  const imported = [...new Set(imports.map(({ path }) => `  import ${path};\n`))].sort();
  const exported = handled.map((name) => `  export ${events.get(name).wit};\n`);
  return `package hookbox:build;\n\nworld hook {\n${imported.join("")}${exported.join("")}}\n`;
}

/** How a source file is called where an error began in it; nothing when it is not the author's. */
function authored(source) {
  const file = relative(folder, join(folder, source)).replaceAll("\\", "/");
  // The SDK may stand in the project itself, as `hookbox new` lays it out.
  const sdk = /(^|\/)hookbox-sdk\/src\//.test(file);
  return sdk || /^\.\.\/|(^|\/)(node_modules|\.hookbox)\/|^<stdin>$/.test(file) ? undefined : file;
}

/** Above each module is its path from the project, which says where on this machine the project and the SDK are. */
function withoutPlaces(text) {
  return text.replace(/^\/\/ (.*)$/gm, (line, path) => (inputs.includes(path) && !authored(path) ? "//" : line));
}

/** Of everything that the component is made from, and of what its types are checked with. */
function digest() {
  const hash = createHash("sha256");
  const files = inputs.filter(authored).map((file) => join(folder, file));
  const rest = ["package-lock.json", "hook.js", "wit/hook.wit"].map((file) => join(here, file));
  for (const file of [...files, join(folder, "tsconfig.json"), ...rest]) {
    if (existsSync(file)) hash.update(read(file)).update("\0");
  }
  return hash.digest("hex");
}

/** What makes a component of the hook, beside Node.js. */
function toolVersions() {
  const { "componentize-qjs": engine, esbuild: bundler } = JSON.parse(read(here, "package.json")).dependencies;
  return { "componentize-qjs": engine, esbuild: bundler };
}

function sdkVersion() {
  const file = inputs.find((input) => input.endsWith("/src/events.js"));
  return JSON.parse(read(folder, file, "../../package.json")).version;
}
