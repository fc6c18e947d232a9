// node componentize.mjs ENGINE OUTPUT: makes a component of hook.js. Runs hook.js once to initialise it.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { componentize } from "componentize-qjs";

import { fail, mapped } from "./common.mjs";

const [engine, output] = process.argv.slice(2);
const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const source = readFileSync(join(here, "hook.js"), "utf8");
const table = JSON.parse(/\nglobalThis\.__hookboxLines = (.*);\n$/.exec(source)[1]);
try {
  const { component } = await componentize({ witPath: join(here, "wit"), world: "hook", jsSource: source, runtime: engine });
  writeFileSync(output, component);
} catch ({ message }) {
  fail(explain(message));
}

function explain(message) {
  const [, name, call] = /unknown import: `hookbox:hooks\/([a-z-]+)@[^#]*#([a-z-]+)`/.exec(message) ?? [];
  if (name !== undefined) {
    return `the hook calls ${name}.${call} while it is imported: it is started when it is built, and there is no host then. Call it in the handler`;
  }
  const thrown = message.replace(/^(: )?(Failed to [^:]*: )*/, "");
  return mapped(thrown, table).replace(/^.*\(native\)\n/gm, "");
}
