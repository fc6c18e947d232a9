// soak.mjs FOLDER TIMES: so many decisions in the memory that the first thousands took. Needs `--expose-gc`.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Runtime } from "@hookbox/runtime";

const [folder, times] = [process.argv[2], Number(process.argv[3])];
const event = readFileSync(join(folder, "event.json"));
const ROOM = 16 << 20;
const runtime = await Runtime.open();
const plain = await runtime.load(join(folder, "hooks.json"));
const hooks = await runtime.load(join(folder, "hooks.json"), { hooks: [{ event: "PreToolUse", run() {} }] });
const batch = Math.max(times / 20, 1000);
let warm = 0;
for (let done = 0; done < times; done += batch) {
  for (let i = 0; i < batch / 200; i++) {
    await Promise.all(Array.from({ length: 100 }, () => hooks.decide(event)));
    for (let j = 0; j < 100; j++) plain.decideSync(event);
  }
  gc();
  const now = process.memoryUsage().rss;
  if (done < batch * 4) warm = now;
  console.log(`${String(done + batch).padStart(9)} decisions   ${now >> 20} MiB`);
  if (now > warm + ROOM) throw new Error(`${(now - warm) >> 20} MiB more than after warming up`);
}
