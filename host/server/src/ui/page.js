"use strict";
// Everything that is shown comes from hooks and events of anybody: it is only ever set as text.
const $ = (id) => document.getElementById(id);
const LOOK = 1000, SHOWN = 500;
let token = sessionStorage.getItem("token"), next = 0, verdicts = [], opened = null, timer = 0;

const element = (name, text, kind) => {
  const made = document.createElement(name);
  made.textContent = text ?? "";
  if (kind) made.className = kind;
  return made;
};
const ran = (verdict) => (verdict.hooks ?? []).filter((hook) => hook.timeUs !== undefined);
const sum = (verdict, key) => ran(verdict).reduce((total, hook) => total + (hook[key] ?? 0), 0);
const number = (value) => (value ? value.toLocaleString("en") : "");
// The hook whose decision it was, or those that ran.
const decider = (verdict) => {
  const hooks = ran(verdict);
  const same = hooks.filter((hook) => hook.verdict === verdict.verdict);
  return (same.length ? same : hooks).map((hook) => hook.hook).join(", ");
};
const reason = (verdict) => verdict.problem ?? ran(verdict).map((hook) => hook.reason ?? hook.message).find(Boolean) ?? "";
const cells = (verdict) => [
  new Date(verdict.at).toLocaleTimeString("en-GB"), verdict.tenant, verdict.event, verdict.tool ?? "", decider(verdict),
  verdict.verdict, reason(verdict), number(sum(verdict, "timeUs")), number(sum(verdict, "fuel")),
];

function show() {
  const wanted = $("filter").value.toLowerCase(), tenant = $("tenant").value;
  const body = $("verdicts").tBodies[0];
  const rows = [];
  for (let index = verdicts.length - 1; index >= 0 && rows.length < SHOWN; index--) {
    const verdict = verdicts[index];
    if (tenant && verdict.tenant !== tenant) continue;
    const texts = cells(verdict);
    if (wanted && !texts.join("\n").toLowerCase().includes(wanted)) continue;
    const row = element("tr");
    row.tabIndex = 0;
    texts.forEach((text, column) => row.append(element("td", text, column === 5 ? String(text).replace(/\W+/g, "-") : "")));
    row.addEventListener("click", () => open(verdict));
    row.addEventListener("keydown", (pressed) => pressed.key === "Enter" && open(verdict));
    rows.push(row);
  }
  body.replaceChildren(...rows);
}

// As `hookbox explain` has it.
function explain(verdict) {
  const lines = [`${verdict.event}  ${verdict.tool ?? ""}  under ${verdict.dialect}`];
  (verdict.hooks ?? []).forEach((hook, index) => {
    const cost = [hook.timeUs !== undefined ? `${number(hook.timeUs)} µs` : "", hook.fuel ? `${number(hook.fuel)} fuel` : ""];
    const said = hook.reason ?? (hook.cause ? `${hook.cause}: ${hook.message ?? ""}` : "");
    const mode = hook.mode === "monitor" ? " (monitor)" : "";
    lines.push(`  ${index + 1}  ${hook.hook}  ${hook.verdict}${mode}  ${said}  ${cost.filter(Boolean).join("  ")}`);
    if (hook.countedAs) lines.push(`       counted as ${hook.countedAs}`);
    (hook.notes ?? []).forEach((note) => lines.push(`       ${note.kind}: ${note.text}`));
  });
  lines.push(`verdict  ${verdict.verdict}`, `clause   ${verdict.clause ?? "—"}`);
  if (verdict.wouldBe) lines.push(`would be ${verdict.wouldBe}, if the hooks decided that are only watched`);
  if (verdict.output !== undefined) lines.push("", JSON.stringify(verdict.output, null, 2));
  return lines.join("\n");
}

function open(verdict) {
  opened = verdict;
  $("main").classList.add("open");
  $("detail").hidden = false;
  $("detail").querySelector("h2").textContent = `${verdict.verdict}: ${verdict.event} of ${verdict.tenant}`;
  $("detail").querySelector("pre").textContent = explain(verdict);
  picture();
}

function picture() {
  const hook = opened && ran(opened)[0];
  $("pictured").textContent = hook ? `${hook.hook}, the last calls` : "";
  const calls = hook ? verdicts.filter((verdict) => verdict.tenant === opened.tenant)
    .flatMap((verdict) => ran(verdict).filter((other) => other.hook === hook.hook)).slice(-80) : [];
  bars($("latency"), calls.map((call) => call.timeUs), "µs");
  bars($("fuel"), calls.map((call) => call.fuel ?? 0), "fuel");
}

function bars(svg, values, unit) {
  const make = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.textContent = text ?? "";
    return made;
  };
  const most = Math.max(1, ...values), width = 400 / 80;
  const drawn = values.map((value, index) => make("rect",
    { x: index * width, y: 85 - (70 * value) / most, width: width - 1, height: (70 * value) / most }));
  svg.replaceChildren(...drawn, make("text", { x: 0, y: 10 }, `${unit}, highest ${number(most)}`));
}

async function look() {
  clearTimeout(timer);
  if (!$("paused").checked) {
    try {
      const response = await fetch(`/ui/verdicts?first=${next}`, { headers: { authorization: `Bearer ${token}` } });
      if (response.status === 401) return leave("This is not an operator's token.");
      if (!response.ok) throw new Error(`the daemon answers ${response.status}`);
      const told = await response.json();
      // The daemon began anew.
      if (told.next < next) { next = 0; verdicts = []; return look(); }
      next = told.next;
      verdicts = verdicts.concat(told.verdicts).slice(-2000);
      sessionStorage.setItem("token", token);
      $("login").hidden = true;
      $("filters").hidden = $("main").hidden = false;
      $("message").textContent = verdicts.length ? "" : "No verdict yet.";
      if (told.verdicts.length) { tenants(); show(); picture(); }
    } catch (error) {
      $("message").textContent = `Not connected: ${error.message}`;
    }
  }
  timer = setTimeout(look, LOOK);
}

function tenants() {
  const known = new Set([...$("tenant").options].map((option) => option.value));
  [...new Set(verdicts.map((verdict) => verdict.tenant))].filter((name) => !known.has(name)).sort()
    .forEach((name) => { const option = element("option", name); option.value = name; $("tenant").append(option); });
}

function leave(message) {
  clearTimeout(timer);
  sessionStorage.removeItem("token");
  [token, next, verdicts, opened] = [null, 0, [], null];
  $("filters").hidden = $("main").hidden = $("detail").hidden = true;
  $("login").hidden = false;
  $("message").textContent = message ?? "";
}

$("login").addEventListener("submit", (event) => { event.preventDefault(); token = $("token").value.trim(); $("token").value = ""; next = 0; look(); });
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("filter").addEventListener("input", show);
$("tenant").addEventListener("change", show);
$("leave").addEventListener("click", () => leave());
$("close").addEventListener("click", () => { opened = null; $("detail").hidden = true; $("main").classList.remove("open"); });
if (token) look();
