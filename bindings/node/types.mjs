// types.mjs FILE: prints the declarations of the addon, from the types that the macros of napi wrote into FILE when it was built.
import { readFileSync } from "node:fs";

const items = readFileSync(process.argv[2], "utf8").trim().split("\n").map((line) => JSON.parse(line));
const indented = (text) => text.trim().split("\n").map((line) => `  ${line.trim()}`).join("\n");
const declarations = new Map();
for (const { kind, name, js_doc, def } of items) {
  const found = declarations.get(name) ?? { doc: "", members: [] };
  if (kind !== "impl") [found.doc, found.keyword] = [js_doc, kind === "struct" ? "declare class" : "interface"];
  if (def.trim() !== "") found.members.push(indented(def));
  declarations.set(name, found);
}
const rank = ({ keyword }) => (keyword === "interface" ? 1 : 0);
const sorted = [...declarations].sort(([a, one], [b, other]) => rank(one) - rank(other) || (a < b ? -1 : 1));
console.log("// Written by `just bindings-types` from the addon.");
for (const [name, { doc, keyword, members }] of sorted) console.log(`\n${doc}export ${keyword} ${name} {\n${members.join("\n")}\n}`);
