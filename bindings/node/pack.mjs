// pack.mjs BUILT OUT: lays out the packages for npm in the folder OUT, with the addon and the compiler that cargo has put into BUILT.
// `tsc` has written `dist`.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";

const [built, out] = process.argv.slice(2);
const here = import.meta.dirname;
const root = join(here, "../..");
// One version for everything that is released.
const version = /^version = "(.+)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
const { private: _, devDependencies, scripts, ...shown } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const platform = `${shown.name}-${process.platform}-${process.arch}-gnu`;

function lay(name, manifest) {
  const folder = join(out, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name, version, ...manifest }, null, 2)}\n`);
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  return folder;
}

const { name, ...manifest } = shown;
const library = lay(name, { ...manifest, files: ["dist", "native.d.ts"], optionalDependencies: { [platform]: version } });
cpSync(join(here, "dist"), join(library, "dist"), { recursive: true });
for (const file of ["native.d.ts", "README.md"]) copyFileSync(join(here, file), join(library, file));
modules(library);

const { description, license, repository, engines } = shown;
const about = { description: `${description}: the part for ${process.platform} ${process.arch}`, license, repository, engines };
const machine = { os: [process.platform], cpu: [process.arch], libc: ["glibc"] };
const addon = lay(platform, { ...about, ...machine, main: "hookbox.node", files: ["hookbox.node", "hookbox-compiler"] });
copyFileSync(join(built, "libhookbox_node.so"), join(addon, "hookbox.node"));
copyFileSync(join(built, "hookbox-compiler"), join(addon, "hookbox-compiler"));
chmodSync(join(addon, "hookbox-compiler"), 0o755);
writeFileSync(join(addon, "README.md"), `# ${platform}\n\nA part of [${name}](https://www.npmjs.com/package/${name}), which installs it.\n`);

/** Writes an ES module beside each entry, which exports the same: there is one copy of every class. */
function modules(folder) {
  const require = createRequire(import.meta.url);
  const typescript = require("typescript");
  const adapters = readdirSync(join(folder, "dist/adapters")).filter((file) => file.endsWith(".d.ts"));
  for (const entry of ["index", ...adapters.map((file) => `adapters/${file.slice(0, -5)}`)]) {
    const source = readFileSync(join(folder, `dist/${entry}.d.ts`), "utf8");
    const values = exported(typescript, source);
    const file = `./${entry.split("/").at(-1)}.js`;
    writeFileSync(join(folder, `dist/${entry}.mjs`), `import all from "${file}";\nexport const { ${values.join(", ")} } = all;\n`);
    writeFileSync(join(folder, `dist/${entry}.d.mts`), `export * from "${file}";\n`);
  }
}

/** Names of the values that declarations export; the addon need not be there to be asked. */
function exported(typescript, source) {
  const { SyntaxKind } = typescript;
  const parsed = typescript.createSourceFile("x.d.ts", source, typescript.ScriptTarget.Latest);
  const is = (node, kind) => (node.modifiers ?? []).some((modifier) => modifier.kind === kind);
  const names = [];
  for (const statement of parsed.statements) {
    if (statement.kind === SyntaxKind.ExportDeclaration && !statement.isTypeOnly) {
      for (const one of statement.exportClause.elements) if (!one.isTypeOnly) names.push(one.name.text);
    } else if (is(statement, SyntaxKind.ExportKeyword)) {
      if (statement.kind === SyntaxKind.VariableStatement) names.push(...statement.declarationList.declarations.map((one) => one.name.text));
      if ([SyntaxKind.FunctionDeclaration, SyntaxKind.ClassDeclaration].includes(statement.kind)) names.push(statement.name.text);
    }
  }
  return names;
}
