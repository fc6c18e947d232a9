"""What the daemon does under load, as ratios and per core. `just bench-serve`; needs wrk (Debian: wrk).

usage: serve.py HOOKBOX GUARD.wasm [--limit RATE-LIMIT.wasm] [--endless ENDLESS.wasm] [--seconds N]
"""
import argparse, hashlib, http.client, json, os, pathlib, re, resource, shutil, signal, socket, subprocess, tempfile
import threading, time, urllib.request

options = argparse.ArgumentParser()
options.add_argument("hookbox")
options.add_argument("guard")
options.add_argument("--limit", help="the example rate-limit: what a kill loses is measured with it")
options.add_argument("--endless", help="a component that never ends: what it costs its neighbours")
options.add_argument("--seconds", type=int, default=8)
options = options.parse_args()
hookbox, component, seconds = options.hookbox, options.guard, options.seconds
resource.setrlimit(resource.RLIMIT_NOFILE, (min(12_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
cores = os.cpu_count()
folder = pathlib.Path(tempfile.mkdtemp(prefix="hookbox-bench-"))
(folder / "tenants").mkdir()
event = json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
                    "tool_input": {"command": "cargo test"}})


def write(name, value):
    beside = folder / f"{name}.new"
    beside.write_text(json.dumps(value))
    beside.rename(folder / name)


def token(name):
    return f"token-of-{name}"


def tenant(name, hooks=1, component="guard.wasm", hook={}, **more):
    write(f"tenants/{name}-hooks.json", {"hooks": {"PreToolUse": [
        {"hooks": [{"type": "wasm", "component": component, "name": f"hook-{n}", **hook} for n in range(hooks)]}]}})
    digest = hashlib.sha256(token(name).encode()).hexdigest()
    write(f"tenants/{name}.json", {"tokens": [f"sha256:{digest}"], "hooks": {"claude": f"{name}-hooks.json"}, **more})


class Daemon:
    def __enter__(self):
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
        self.process = subprocess.Popen([hookbox, "serve", "--config", str(folder / "serve.json")],
                                        stderr=subprocess.PIPE, text=True, env=environment)
        for line in self.process.stderr:
            if found := re.search(r"serving on (.*)", line):
                self.base = f"http://{found[1]}"
                break
        threading.Thread(target=lambda: [None for _ in self.process.stderr], daemon=True).start()
        while True:
            try:
                urllib.request.urlopen(f"{self.base}/readyz")
                return self
            except urllib.error.HTTPError:
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def memory(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def load(daemon, names, connections=32, seconds=seconds, path=None):
    """Decisions per second, the 50th and 99th percentile in ms, and answers that were no 2xx."""
    script = folder / f"load-{names[0]}.lua"
    requests = "\n".join(
        f"requests[{n + 1}] = wrk.format('POST', '/v1/{name}/claude', {{['authorization'] = 'Bearer {token(name)}'}}, body)"
        for n, name in enumerate(names))
    script.write_text(f"local body = [==[{event}]==]\nlocal requests, next = {{}}, 0\n"
                      f"function init() {requests} end\n"
                      "function request() next = next % #requests + 1 return requests[next] end\n")
    command = ["wrk", f"-t{min(2, connections)}", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s"]
    command += [f"{daemon.base}{path}"] if path else ["-s", str(script), daemon.base]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def milliseconds(percent):
        value, unit = re.search(rf"{percent}%\s+([\d.]+)(us|ms|s)", said).groups()
        return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    lost = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    broken = re.search(r"Socket errors: (.*)", said)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])
    return rate, milliseconds(50), milliseconds(99), int(lost[1]) if lost else 0, broken[1] if broken else "none"


def kills(most=3000, rounds=5):
    """A rate limit, and daemons that are killed while they answer: what was acknowledged is never let through again."""
    let_through, lock, going = 0, threading.Lock(), threading.Event()

    def ask(daemon):
        nonlocal let_through
        connection = http.client.HTTPConnection(daemon.base[7:])
        while not going.is_set():
            try:
                connection.request("POST", "/v1/counted/claude", event, {"authorization": f"Bearer {token('counted')}"})
                denied = "deny" in connection.getresponse().read().decode()
            except (OSError, http.client.HTTPException):
                return
            if denied:
                return
            with lock:
                let_through += 1

    for turn in range(rounds + 1):
        with Daemon() as daemon:
            clients = [threading.Thread(target=ask, args=[daemon]) for _ in range(8)]
            [client.start() for client in clients]
            if turn < rounds:
                time.sleep(0.1 + turn / 20)
                daemon.kill()
            [client.join() for client in clients]
    lost = max(0, let_through - most)
    return f"{rounds} times while 8 clients ask: {let_through} of {most} let through and acknowledged, {lost} forgotten"


try:
    shutil.copy(component, folder / "tenants/guard.wasm")
    write("serve.json", {"listen": "127.0.0.1:0", "tenants": "tenants", "state": "state/state.db"})
    tenant("acme")
    tenant("rich", quotas={"concurrency": 64, "queue": 4096})
    tenant("greedy")
    tenant("over-quota", quotas={"requestsPerSecond": 100})
    if options.endless:
        shutil.copy(options.endless, folder / "tenants/endless.wasm")
        tenant("endless", component="endless.wasm", quotas={"concurrency": 64, "queue": 4096})
    if options.limit:
        shutil.copy(options.limit, folder / "tenants/limit.wasm")
        state = {"permissions": {"state": True}}
        tenant("counted", component="limit.wasm", hook={**state, "config": {"max": 3000}},
               ceiling={**state, "authority": {"decide": ["deny", "skip"]}})
    with Daemon() as daemon:
        floor = load(daemon, ["floor"], path="/healthz")
        many = load(daemon, ["rich"], connections=16)
        print(f"decisions        {many[0]:9.0f}/s  {many[0] / cores:7.0f}/s per core   "
              f"{many[0] / floor[0]:.2f} of bare HTTP ({floor[0]:.0f}/s)")
        print(f"latency          p50 {many[1]:.2f} ms   p99 {many[2]:.2f} ms   16 clients, not 2xx {many[3]}")
        few = load(daemon, ["rich"], connections=4)
        print(f"                 p50 {few[1]:.2f} ms   p99 {few[2]:.2f} ms   4 clients   ({few[0]:.0f}/s)")
        alone = load(daemon, ["acme"], connections=4)
        for neighbour in ["greedy", "over-quota"] + (["endless"] if options.endless else []):
            beside = {}
            burst = threading.Thread(target=lambda: beside.update(got=load(daemon, [neighbour], 64, seconds + 2)))
            burst.start()
            time.sleep(1)
            with_it = load(daemon, ["acme"], connections=4)
            burst.join()
            print(f"{neighbour:16} p99 {with_it[2]:.2f} ms beside it, {alone[2]:.2f} ms without: "
                  f"{with_it[2] / alone[2]:.2f} times; it asks {beside['got'][0]:.0f}/s, not 2xx {beside['got'][3]}")
        one = load(daemon, ["acme"], connections=1)
        for callers in [64, 512, 3000]:
            # Each caller has a connection and one request in flight, all of it within its tenant's quota.
            burst = threading.Thread(target=load, args=(daemon, ["rich"], callers, seconds + 2))
            burst.start()
            time.sleep(1)
            with_it = load(daemon, ["acme"], connections=1)
            burst.join()
            print(f"{callers:4} callers     p50 {with_it[1]:.2f} ms   p99 {with_it[2]:.2f} ms of one caller of another tenant: "
                  f"{with_it[1] / one[1]:.2f} and {with_it[2] / one[2]:.2f} times")
        head = b"POST /v1/acme/claude HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n"
        slow = [socket.create_connection(daemon.base[7:].split(":")) for _ in range(200)]
        [client.sendall(head[:20] if n % 2 else head + b"\r\n{") for n, client in enumerate(slow)]
        with_it = load(daemon, ["acme"], connections=4)
        [client.close() for client in slow]
        print(f"200 slow clients p99 {with_it[2]:.2f} ms beside them: {with_it[2] / alone[2]:.2f} times, not 2xx {with_it[3]}")
        ended = threading.Event()
        reloads = 0

        def reload():
            global reloads
            while not ended.wait(0.7):
                tenant("acme", hooks=1 + reloads % 2)
                reloads += 1

        changing = threading.Thread(target=reload)
        changing.start()
        under = load(daemon, ["acme"], connections=16)
        ended.set()
        changing.join()
        print(f"reload           {reloads} changes under load: {under[3]} answers not 2xx, socket errors {under[4]}")
        idle = [socket.create_connection(daemon.base[7:].split(":")) for _ in range(10_000)]
        metrics = urllib.request.urlopen(f"{daemon.base}/metrics").read().decode()
        kept = float(re.search(r"^hookbox_connections (\S+)", metrics, re.M)[1])
        with_them = load(daemon, ["acme"], connections=4)
        print(f"idle             {len(idle)} connections: {kept:.0f} kept, {daemon.memory():.0f} MiB, "
              f"p99 {with_them[2]:.2f} ms, not 2xx {with_them[3]}, socket errors {with_them[4]}")
        [connection.close() for connection in idle]
    for n in range(100):
        tenant(f"t{n}", hooks=10)
    with Daemon() as daemon:
        hundred = load(daemon, [f"t{n}" for n in range(100)], connections=32)
        print(f"100 tenants      of 10 hooks: {daemon.memory():.0f} MiB, {hundred[0]:.0f} events/s "
              f"({hundred[0] * 10:.0f} hooks/s), p99 {hundred[2]:.2f} ms, not 2xx {hundred[3]}")
    if options.limit:
        print(f"kill -9          {kills()}")
finally:
    shutil.rmtree(folder, ignore_errors=True)
