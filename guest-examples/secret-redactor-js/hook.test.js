import assert from "node:assert/strict";
import { test } from "node:test";

import { context, toolCall } from "@hookbox/guest/testing";

import { onPostToolUse } from "./hook.js";

const PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
const redact = (value) => onPostToolUse(toolCall("Bash"), { value }, context());

test("secrets are masked wherever they stand, and counted", () => {
  const output = redact({ stdout: "SECRET_KEY=abc\nHOME=/root", lines: [{ text: "id AKIAIOSFODNN7EXAMPLE" }], code: 0 });
  assert.deepEqual(output.updatedOutput, { stdout: "SECRET_KEY=***\nHOME=/root", lines: [{ text: "id ***" }], code: 0 });
  assert.match(output.context, /: 2$/);
  for (const [text, clean] of [
    ["key=ASIAIOSFODNN7EXAMPLE.", "key=***."],
    [`https://ghp_${"a1".repeat(18)}@github.com`, "https://***@github.com"],
    [`github_pat_${"x".repeat(30)}`, "***"],
    [`a\n${PEM}\nb`, "a\n***\nb"],
    [`${PEM}${PEM}`, "******"],
    ["-----BEGIN PRIVATE KEY-----\nMIIE", "***"],
    ["DJANGO_SECRET_KEY='a b' x", "DJANGO_SECRET_KEY='***' x"],
    ["AWS_SECRET_ACCESS_KEY=abc/def+g\n", "AWS_SECRET_ACCESS_KEY=***\n"],
    ["ключ SECRET_KEY=пароль;", "ключ SECRET_KEY=***;"],
  ]) {
    assert.equal(redact(text)?.updatedOutput, clean, text);
  }
});

test("a secret in a secret is one", () => {
  assert.match(redact("SECRET_KEY=AKIAIOSFODNN7EXAMPLE").context, /: 1$/);
});

test("what is not a secret stays", () => {
  for (const text of [
    "AKIA", "AKIAIOSFODNN7EXAMPLEX", "XAKIAIOSFODNN7EXAMPLE", "ghp_short", "SECRET_KEY=", "SECRET_KEYS=a",
    "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----", "-----BEGIN ", "Ünïcödé", "", null, 5,
  ]) {
    assert.equal(redact(text), undefined, text);
  }
});
