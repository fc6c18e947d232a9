// node bundle.mjs FOLDER: bundles a hook and its imports to hook.js, and writes its world to wit/hook.wit. Prints the
// findings on stdout, and errors in esbuild's format on stderr.
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
      // The SDK implements promises, because the engine's own would only continue after the call.
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
    // These notes suggest another platform, but there is only one.
    for (const one of errors) one.notes = one.notes.filter(({ text }) => !/platform: 'node'|mark the path/.test(text));
    const texts = await esbuild.formatMessages(errors, { kind: "error", color: process.stderr.isTTY });
    process.stderr.write(texts.join(""));
    return fail(errors.length === 0 ? error.message : told);
  }
}

/** Advice for errors that esbuild cannot give. */
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

/** The event that was probably meant. At most a third of its letters may differ, ignoring case. */
function meant(word) {
  const [best] = [...events.keys()]
    .map((name) => ({ name, far: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, far }) => far <= name.length / 3)
    .sort((one, other) => one.far - other.far);
  return best === undefined ? "" : ` (did you mean \`${best.name}\`?)`;
}

/** The edit distance: the number of letters to add, remove or replace. */
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

/** The line on which the entry file exports each handler. */
function handlerLines() {
  const lines = read(folder, entry).split("\n");
  const lineOf = (name) => lines.findIndex((line) => new RegExp(`^\\s*export\\b.*\\b${name}\\b`).test(line)) + 1;
  return Object.fromEntries(handled.map((name) => [name, lineOf(name)]).filter(([, line]) => line > 0).map(([name, line]) => [name, `${entry}:${line}`]));
}

/** The module to build: the expected JavaScript globals, and the handlers under their names in the contract. */
function glue() {
  const lines = [`import "${SDK}/globals";`];
  // Only if it is used: the module is large, and few hooks parse URLs.
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

/** The hook's world. Exports are the events that it handles, imports the capabilities that it asks for. */
function worldOf(imports) {
  const imported = [...new Set(imports.map(({ path }) => `  import ${path};\n`))].sort();
  const exported = handled.map((name) => `  export ${events.get(name).wit};\n`);
  return `package hookbox:build;\n\nworld hook {\n${imported.join("")}${exported.join("")}}\n`;
}

/** The name of a source file in error messages. `undefined` if it is not the author's. */
function authored(source) {
  const file = relative(folder, join(folder, source)).replaceAll("\\", "/");
  // The SDK may be in the project itself, where `hookbox new` puts it.
  const sdk = /(^|\/)hookbox-sdk\/src\//.test(file);
  return sdk || /^\.\.\/|(^|\/)(node_modules|\.hookbox)\/|^<stdin>$/.test(file) ? undefined : file;
}

/** Removes the path comment above each module, which would reveal where the project and the SDK are on this machine. */
function withoutPlaces(text) {
  return text.replace(/^\/\/ (.*)$/gm, (line, path) => (inputs.includes(path) && !authored(path) ? "//" : line));
}

/** A digest of everything that the component is made from, and of the files for its type check. */
function digest() {
  const hash = createHash("sha256");
  const files = inputs.filter(authored).map((file) => join(folder, file));
  const rest = ["package-lock.json", "hook.js", "wit/hook.wit"].map((file) => join(here, file));
  for (const file of [...files, join(folder, "tsconfig.json"), ...rest]) {
    if (existsSync(file)) hash.update(read(file)).update("\0");
  }
  return hash.digest("hex");
}

/** The versions of the tools that build the component, without Node.js. */
function toolVersions() {
  const { "componentize-qjs": engine, esbuild: bundler } = JSON.parse(read(here, "package.json")).dependencies;
  return { "componentize-qjs": engine, esbuild: bundler };
}

function sdkVersion() {
  const file = inputs.find((input) => input.endsWith("/src/events.js"));
  return JSON.parse(read(folder, file, "../../package.json")).version;
}
