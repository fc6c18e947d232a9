#!/usr/bin/env node
// Starts the program that the package of this platform has. A client that is set up by `hookbox install` starts the program
// itself, without Node.js.
"use strict";

const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");

const PLATFORMS = require("../platforms.json");

/** Path of the program for this machine. */
function program() {
  const name = PLATFORMS[`${process.platform} ${process.arch}`];
  if (name === undefined) {
    throw new Error(`hookbox has no package for ${process.platform} ${process.arch}: install it from source`);
  }
  try {
    return require.resolve(`${name}/bin/hookbox`);
  } catch {
    throw new Error(`missing package ${name}: install again without --omit=optional`);
  }
}

/** Exit code where the program does not run: 2 blocks, where the command line or the configuration asks for that; 70 is
 * hookbox's own for its failures. */
function code(words) {
  const at = words.findIndex((word) => word === "--config" || word.startsWith("--config="));
  const file = at < 0 ? undefined : words[at].split("=").slice(1).join("=") || words[at + 1];
  let text = "";
  try {
    text = readFileSync(file, "utf8");
  } catch {
    // The command line alone decides.
  }
  return words.includes("--fail-closed") || /"failClosed"\s*:\s*true/.test(text) ? 2 : 70;
}

function fail(error) {
  console.error(`hookbox: ${error.message}`);
  process.exitCode = code(process.argv.slice(2));
}

try {
  const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", fail);
  child.on("exit", (code, signal) => {
    if (signal !== null) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else {
      process.exitCode = code;
    }
  });
} catch (error) {
  fail(error);
}
