import assert from "node:assert/strict";
import { test } from "node:test";

import { deny } from "@hookbox/guest";
import { context, toolCall } from "@hookbox/guest/testing";

import { NESTING, find } from "./danger.js";
import { onPermissionRequest, onPreToolUse } from "./hook.js";

test("what is dangerous is found, however it is written", () => {
  for (const command of [
    "rm -rf /", "r'm' \"-rf\" x", "\\rm -rf x", "rm --rec -f x", "rm -r x -f", "rm -rf x > /dev/null", "< list rm -rf x",
    "sudo -u root env A=1 rm -rf x", "find . -name x -exec rm -rf {} +", "if true; then rm -rf x; fi", "(rm -rf x)",
    'echo "`rm -rf x`"', 'echo "a $(rm -rf x) b"', 'sudo sh -ec "cd /; rm -rf x"', "eval rm\\ -rf\\ x", "ls & rm -rf x",
    "rm${IFS}-rf${IFS}x", "rm \\\n -rf x", "ls\nrm -rf x",
  ]) {
    assert.equal(find(command, NESTING), "`rm -rf`", command);
  }
  for (const [command, why] of [
    ["dd bs=1M if=image", "`dd if=`"],
    ["dd of=/dev/sda < image", "writing to `/dev/sda`"],
    ["sudo mkfs.ext4 -F /dev/sdb", "`mkfs`"],
    ["cat image >/dev//sda", "writing to `/dev/sda`"],
    ["cat image >> /tmp/../dev/sda", "writing to `/dev/sda`"],
    ["cat image &> /dev/sda", "writing to `/dev/sda`"],
    ["cat image | sudo tee /dev/sda", "writing to `/dev/sda`"],
    ["$(".repeat(10_000), "a command inside so many others"],
  ]) {
    assert.equal(find(command, NESTING), why, command);
  }
});

test("what only looks dangerous is let through", () => {
  for (const command of [
    "rm x", "rm -r x", "rm -- -rf", "git rm -rf x", "git commit -m 'never run rm -rf /'", "ls > /dev/null 2>&1",
    "echo x > dev/sda", "cat /dev/urandom | head -c 4", "ls # rm -rf x", "é 'ü' \"ö\"", "",
  ]) {
    assert.equal(find(command, NESTING), undefined, command);
  }
});

test("both gates refuse", () => {
  const call = toolCall("Bash", { command: "rm -rf /" });
  assert.deepEqual(onPreToolUse(call, context()), deny("`rm -rf` is not allowed here"));
  assert.deepEqual(onPermissionRequest(call, {}, context()), deny("`rm -rf` is not allowed here"));
  for (const input of [{ command: "ls" }, { command: 5 }, null]) assert.equal(onPreToolUse(toolCall("Bash", input), context()), undefined);
});
