// Detection of dangerous commands.
import { Refused, parse } from "./shell.js";

const set = (words) => new Set(words.split(" "));

// Programs that run another program given in their arguments.
const RUNNERS = set("sudo doas env nohup time timeout nice ionice exec command builtin busybox setsid stdbuf xargs find watch");
// Programs that read a command from a string.
const SHELLS = set("sh bash zsh dash ash ksh fish eval");
// Words that may stand before a command.
const KEYWORDS = set("! { if then elif else while until do coproc");
// Devices that discard or display what is written to them.
const HARMLESS = set("/dev/null /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/full");

/** Maximum nesting of commands in strings (`sh -c "sh -c …"`). */
export const NESTING = 8;

/**
 * Returns the first dangerous command of a command line.
 * @param {string} text
 * @param {number} depth
 * @returns {string | undefined}
 */
export function find(text, depth) {
  if (depth === 0) return "a command inside so many others";
  try {
    return first(parse(text), (command) => inCommand(command, depth - 1));
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

/** Returns the first danger found in any of these. */
function first(items, look) {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
}

function inCommand({ words, targets }, depth) {
  const device = targets.map(resolve).find(isDevice);
  if (device !== undefined) return `writing to \`${device}\``;
  const start = words.findIndex((word) => !KEYWORDS.has(word) && !/^[_0-9A-Za-z]+=/.test(word));
  if (start >= 0) return inWords(words.slice(start), depth);
}

/** Returns the program's name: `/bin/rm` is `rm`. */
const name = (word) => word.slice(word.lastIndexOf("/") + 1);

function inWords([runs, ...words], depth) {
  const program = name(runs);
  if (program === "rm" && isRecursiveAndForced(words)) return "`rm -rf`";
  if (program === "dd" && words.some((word) => word.startsWith("if="))) return "`dd if=`";
  if (program === "dd" || program === "tee") {
    const device = words.map((word) => resolve(word.replace(/^of=/, ""))).find(isDevice);
    if (device !== undefined) return `writing to \`${device}\``;
  }
  if (program === "mkfs" || program.startsWith("mkfs.")) return "`mkfs`";
  if (SHELLS.has(program)) return first(words, (word) => find(word, depth));
  // The runner's options determine which argument is the program, so try every argument. Skip a runner inside a runner:
  // the outer one already tries all arguments.
  if (RUNNERS.has(program)) {
    return first(words.keys(), (at) => (RUNNERS.has(name(words[at])) ? undefined : inWords(words.slice(at), depth)));
  }
}

/** Detects `-rf`, `-r -f`, `-fR`, `--recursive --force`, and the abbreviations that GNU accepts. */
function isRecursiveAndForced(words) {
  let [recursive, forced] = [false, false];
  for (const word of words) {
    if (word === "--") break;
    if (word.startsWith("--")) {
      recursive ||= "recursive".startsWith(word.slice(2));
      forced ||= "force".startsWith(word.slice(2));
    } else if (word.startsWith("-")) {
      recursive ||= /[rR]/.test(word);
      forced ||= word.includes("f");
    }
  }
  return recursive && forced;
}

const isDevice = (path) => path.startsWith("/dev/") && !path.startsWith("/dev/fd/") && !HARMLESS.has(path);

/** Normalizes a path: `/dev/./sda` and `/tmp/../dev//sda` become `/dev/sda`. A relative path stays relative. */
function resolve(path) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}
