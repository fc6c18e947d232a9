"""The daemon under mixed hostile and honest load for a long time. `just soak-serve`.

usage: soak.py HOOKBOX GUARD.wasm [--limit RATE-LIMIT.wasm] [--endless ENDLESS.wasm] [--minutes N]

First an honest tenant asks alone, and its 99th percentile is taken. Then it asks beside half-sent bodies, floods of a neighbour, refused
strangers, answers that are not read, readers of the console, reloads, broken files, hooks that never end and a state server that goes and
comes back (redis-server or valkey-server has to be installed). The last line is the verdict. It fails when an honest answer is wrong or
missing, when its p99 is more than 3 times what it was, when memory grows, when a kind of load did not happen, or when the daemon panics or
does not end.
"""
import argparse, hashlib, http.client, itertools, json, os, pathlib, random, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time

options = argparse.ArgumentParser()
options.add_argument("hookbox")
options.add_argument("guard")
options.add_argument("--limit")
options.add_argument("--endless")
options.add_argument("--minutes", type=float, default=30)
options.add_argument("--honest", nargs=3, metavar=("HOST", "PORT", "SECONDS"), help=argparse.SUPPRESS)
options = options.parse_args()
folder = pathlib.Path(tempfile.mkdtemp(prefix="hookbox-soak-"))
if not options.honest:
    (folder / "tenants").mkdir()
ended = threading.Event()
counts, lock = {}, threading.Lock()
# The kinds of hostile load. Each must have happened.
EXPECTED = ["half-sent bodies", "refused strangers", "answers to flood", "large events", "unread responses", "views of the console",
            "reloads and broken files"]


def count(what, by=1):
    with lock:
        counts[what] = counts.get(what, 0) + by


def write(name, text):
    beside = folder / f"{name}.new"
    beside.write_text(text if isinstance(text, str) else json.dumps(text))
    beside.rename(folder / name)


def token(name):
    return f"hbx_{hashlib.sha256(name.encode()).hexdigest()}"


def tenant(name, component="guard.wasm", hook={}, hooks=1, **more):
    write(f"tenants/{name}-hooks.json", {"hooks": {"PreToolUse": [
        {"hooks": [{"type": "wasm", "component": component, "name": f"hook-{n}", **hook} for n in range(hooks)]}]}})
    digest = hashlib.sha256(token(name).encode()).hexdigest()
    write(f"tenants/{name}.json", {"tokens": [f"sha256:{digest}"], "hooks": {"claude": f"{name}-hooks.json"}, **more})


def event(command):
    return json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}})


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Redis:
    def __init__(self):
        self.port, self.process = free_port(), None
        self.program = shutil.which("redis-server") or shutil.which("valkey-server")

    def start(self):
        if self.program:
            command = [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


redis = Redis()


class Daemon:
    def start(self):
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
        self.process = subprocess.Popen([options.hookbox, "serve", "--config", str(folder / "serve.json")],
                                        stderr=subprocess.PIPE, text=True, env=environment)
        for line in self.process.stderr:
            if found := re.search(r"serving on (.*):(\d+)", line):
                self.host, self.port = found[1], int(found[2])
                break
        else:
            raise SystemExit("the daemon does not start")
        threading.Thread(target=self.read_log, daemon=True).start()
        while get("/readyz")[0] != 200:
            time.sleep(0.1)

    def read_log(self):
        for line in self.process.stderr:
            if "a bug" in line:
                count("panics")
                print(line, flush=True)

    def memory(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


daemon = Daemon()


def get(path, name=None):
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=30)
    try:
        connection.request("GET", path, headers={"authorization": f"Bearer {token(name)}"} if name else {})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def post(connection, name, body, bearer=None):
    connection.request("POST", f"/v1/{name}/claude", body, {"authorization": f"Bearer {bearer or token(name)}"})
    response = connection.getresponse()
    return response.status, response.read().decode()


def honest(until):
    """Asks from a process of its own, because Python's threads wait for each other. Returns the times in ms."""
    command = [sys.executable, __file__, "-", "-", "--honest", daemon.host, str(daemon.port), str(max(0.1, until - time.monotonic()))]
    asked = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    told = json.loads(asked.stdout)
    for wrong in told["wrong"]:
        count("wrong or missing honest answers")
        print(f"wrong: {wrong}", flush=True)
    return told["times"]


def ask_honestly(until):
    """One request in flight, each on a connection of its own, as a hook process asks. Prints the times in ms, and wrong answers."""
    times, wrong = [], []
    while time.monotonic() < until:
        command, denied = random.choice([("rm -rf /", True), ("ls", False)])
        begin = time.monotonic()
        try:
            connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=30)
            status, said = post(connection, "honest", event(command))
            connection.close()
        except (OSError, http.client.HTTPException) as error:
            status, said = 0, repr(error)
        times.append((time.monotonic() - begin) * 1000)
        if status != 200 or ('"deny"' in said) != denied:
            wrong.append(f"{status} {said[:200]}")
        time.sleep(0.005)
    print(json.dumps({"times": times, "wrong": wrong}))


def percentile(times, of):
    return sorted(times)[min(len(times) - 1, int(len(times) * of / 100))]


def forever(what):
    def run():
        # The work of the hostile clients is not the daemon's. On Linux this is about the thread alone.
        os.nice(10)
        while not ended.is_set():
            try:
                what()
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
    return threading.Thread(target=run, daemon=True)


def slow_bodies():
    bearer = token("slow")
    size = random.choice([100, 8 << 20])
    length = random.choice([f"content-length: {size}\r\n\r\n{{", f"transfer-encoding: chunked\r\n\r\n{size:x}\r\n{{"])
    head = f"POST /v1/slow/claude HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bearer}\r\n{length}".encode()
    held = []
    for _ in range(50):
        connection = socket.create_connection((daemon.host, daemon.port), timeout=1)
        connection.settimeout(0.05)
        held.append(connection)
        try:
            connection.sendall(head + b" " * (size // 2))
        except OSError:
            pass
        count("half-sent bodies")
    ended.wait(2)
    [connection.close() for connection in held]


def strangers():
    name = f"stranger-{random.random()}" + "x" * 5000
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=5)
    post(connection, name, "{}", "guess")
    connection.close()
    count("refused strangers")
    time.sleep(0.02)


def flood(name):
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=60)
    def ask():
        post(connection, name, event("ls"))
        count(f"answers to {name}")
    return ask


def large():
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=60)
    body = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "x" * (2 << 20)})
    post(connection, "large", body)
    connection.close()
    count("large events")
    time.sleep(0.2)


def unread():
    """A tool output with a secret in it comes back without it, so the answer is as large as the event."""
    body = json.dumps({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "x"},
                       "tool_response": "AKIAIOSFODNN7EXAMPLE " + "x y " * 12_000}).encode()
    head = f"POST /v1/unread/claude HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token('unread')}\r\ncontent-length: {len(body)}\r\n\r\n"
    held = []
    for _ in range(20):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.settimeout(1)
        held.append(connection)
        connection.connect((daemon.host, daemon.port))
        connection.sendall(head.encode() + body)
        count("unread responses")
    ended.wait(2)
    [connection.close() for connection in held]


views = itertools.cycle(["now", "hooks", "attention", "tenants", "health"])


def reader():
    get(f"/ui/api/{next(views)}", "flood")
    count("views of the console")
    time.sleep(0.02)


def reloads():
    tenant("changing", hooks=random.randint(1, 50), hook={"mode": random.choice(["enforce", "monitor"])})
    ended.wait(1)
    write("tenants/broken.json", random.choice(["{", "[]", '{"tokens": 1}', "x" * 100_000, '{"failClosed": true']))
    write("tenants/changing-hooks.json", random.choice(["{", "{}", '{"hooks": {"PreToolUse": 1}}']))
    count("reloads and broken files", 3)
    ended.wait(1)


def away_and_back():
    ended.wait(5)
    redis.stop()
    count("state server away")
    ended.wait(3)
    redis.start()


if options.honest:
    folder.rmdir()
    daemon.host, daemon.port = options.honest[0], int(options.honest[1])
    ask_honestly(time.monotonic() + float(options.honest[2]))
    raise SystemExit(0)

failures = []
try:
    shutil.copy(options.guard, folder / "tenants/guard.wasm")
    redis.start()
    state = f"redis://127.0.0.1:{redis.port}" if redis.program else "state.db"
    operator = hashlib.sha256(token("operator").encode()).hexdigest()
    write("serve.json", {"listen": "127.0.0.1:0", "tenants": "tenants", "state": state, "records": "records.jsonl",
                         "operators": [f"sha256:{operator}"]})
    for name in ["honest", "slow", "flood", "large", "changing"]:
        tenant(name)
    rewrites = {"authority": {"decide": ["deny"], "rewrite": "all", "context": True}}
    tenant("unread", ceiling=rewrites)
    write("tenants/unread-hooks.json", {"hooks": {"PostToolUse": [
        {"hooks": [{"type": "wasm", "component": "hookbox:secret-redactor", **rewrites}]}]}})
    threads = [forever(slow_bodies), forever(reloads), forever(large), forever(unread), forever(reader)]
    threads += [forever(strangers) for _ in range(4)]
    if options.endless:
        shutil.copy(options.endless, folder / "tenants/endless.wasm")
        tenant("endless", component="endless.wasm")
    if options.limit:
        shutil.copy(options.limit, folder / "tenants/limit.wasm")
        granted = {"permissions": {"state": True}}
        tenant("counted", component="limit.wasm", hook={**granted, "config": {"max": 1_000_000}},
               ceiling={**granted, "authority": {"decide": ["deny", "skip"]}})
    daemon.start()
    floods = ["flood"] * 8 + (["endless"] * 4 if options.endless else []) + (["counted"] * 2 if options.limit else [])
    threads += [forever(flood(name)) for name in floods]
    if options.limit and redis.program:
        threads.append(forever(away_and_back))
        EXPECTED.extend(["state server away", "answers to counted"])
    if options.endless:
        EXPECTED.append("answers to endless")
    for what, there in [("hooks that never end: give --endless", options.endless),
                        ("state that goes away: give --limit, and install redis-server", options.limit and redis.program)]:
        if not there:
            print(f"not tried        {what}", flush=True)
    seconds = options.minutes * 60
    honest(time.monotonic() + 2)
    quiet = honest(time.monotonic() + max(10, min(60, seconds / 10)))
    [thread.start() for thread in threads]
    # What every kind of load needs once is there after a tenth of the time.
    warm, rounds, busy, memory = time.monotonic() + max(15, seconds / 10), 10, [], []
    honest(warm)
    for _ in range(rounds):
        busy += honest(time.monotonic() + seconds * 0.9 / rounds)
        memory.append(daemon.memory())
    status, page = get("/metrics")
    ended.set()
    before, after = percentile(quiet, 99), percentile(busy, 99)
    third = len(memory) // 3
    first, last = sum(memory[:third]) / third, sum(memory[-third:]) / third
    print(f"minutes          {options.minutes}")
    print(f"honest, quiet    p50 {percentile(quiet, 50):.2f} ms   p99 {before:.2f} ms   {len(quiet)} events")
    print(f"honest, beside   p50 {percentile(busy, 50):.2f} ms   p99 {after:.2f} ms   {len(busy)} events: {after / before:.2f} times")
    print(f"memory           {' '.join(f'{megabytes:.0f}' for megabytes in memory)} MiB")
    print(f"/metrics         {status}, {len(page) / 1024:.0f} KiB, {len(page.splitlines())} lines")
    for what, number in sorted(counts.items()):
        print(f"{number:16} {what}")
    if counts.get("wrong or missing honest answers"):
        failures.append("an honest answer was wrong or missing")
    if after > 3 * before:
        failures.append(f"p99 of honest events is {after / before:.2f} times that of quiet, more than 3")
    failures += [f"this load did not happen: {what}" for what in EXPECTED if not counts.get(what)]
    if counts.get("panics"):
        failures.append("the daemon panicked")
    if status != 200:
        failures.append(f"/metrics answered {status}")
    if last > first * 1.1 + 20:
        failures.append(f"memory grew from {first:.0f} to {last:.0f} MiB")
    daemon.process.send_signal(signal.SIGTERM)
    code = daemon.process.wait(60)
    if code:
        failures.append(f"the daemon ended with {code}")
except (OSError, subprocess.SubprocessError, http.client.HTTPException) as error:
    failures.append(f"the daemon is away, or does not end: {error!r}")
finally:
    ended.set()
    if getattr(daemon, "process", None) and daemon.process.poll() is None:
        daemon.process.kill()
    redis.stop()
    shutil.rmtree(folder, ignore_errors=True)
for failure in failures:
    print(f"failed: {failure}")
print("verdict          " + ("FAILED" if failures else "passed"))
raise SystemExit(1 if failures else 0)
