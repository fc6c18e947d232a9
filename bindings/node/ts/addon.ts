// Finds the platform package, which has the addon and the compiler of components.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import type * as Native from "../native";
import { HookboxError } from "./errors";

/** The platform package of this machine. */
function platform(): string {
  const { platform, arch } = process;
  if (platform !== "linux") return `@hookbox/runtime-${platform}-${arch}`;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return `@hookbox/runtime-${platform}-${arch}-${report.header?.glibcVersionRuntime ? "gnu" : "musl"}`;
}

function load(): { addon: typeof Native; compiler: string | undefined } {
  const name = platform();
  let folder: string;
  try {
    folder = dirname(require.resolve(`${name}/package.json`));
  } catch {
    const message =
      `the package ${name} is missing: install @hookbox/runtime with its optional dependencies, ` +
      `on a platform that it is made for`;
    throw new HookboxError("system", message);
  }
  const compiler = join(folder, "hookbox-compiler");
  const addon = require(join(folder, "hookbox.node")) as typeof Native;
  return { addon, compiler: existsSync(compiler) ? compiler : undefined };
}

export const { addon, compiler } = load();
