import assert from "node:assert/strict";
import { test } from "node:test";

import { type Request, context, fail, host } from "@hookbox/guest/testing";

import { onNotification, onStop } from "./hook.js";

const URL = "https://example.com/hook";

test("what is worth a message is posted, with the project's name", () => {
  const sent: string[] = [];
  const http = ({ body }: Request) => (sent.push(new TextDecoder().decode(body ?? undefined)), { status: 204 });
  host({ config: { url: URL, kinds: ["idle_prompt"] }, http });
  onNotification({ notificationType: "idle_prompt", title: "Waiting", message: "for you" }, context({ cwd: "/home/dev/app" }));
  onNotification({ notificationType: "auth_success", message: "no" }, context());
  onStop({ finalResponse: "All tests pass" }, context());
  onStop({ stopHookActive: true }, context());
  assert.deepEqual(sent, ['{"text":"app: Waiting: for you"}', '{"text":"All tests pass"}']);
});

test("a message that does not arrive is logged", () => {
  let times = 0;
  const { logs } = host({ config: { url: URL }, http: () => (times++ === 0 ? fail("timeout") : { status: 500 }) });
  onStop({}, context());
  onStop({}, context());
  assert.deepEqual(logs.map(({ message }) => message), [
    "the message was not sent: http: timeout",
    "the message was not taken: 500",
  ]);
});

test("without a place to post to it fails", () => {
  host();
  assert.throws(() => onStop({}, context()), /`url` is missing/);
});
