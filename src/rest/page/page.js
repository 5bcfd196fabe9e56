// The page for people. Everything it shows comes from the REST interface, as text: nothing that a kernel,
// its log or its name says is ever taken for markup.
"use strict";

const kStages = ["received", "compiled", "prepared", "validated", "timed", "profiled", "concluded"];
const kDone = { submitted: 1, compiling: 1, validating: 2, profiling: 4 };
const kPollMs = 1000;

let token = sessionStorage.getItem("token") || "";
let chosen = location.hash.slice(1);
let shown = "";  // what the report was drawn from

const at = id => document.getElementById(id);

// element("b", {class: "bad"}, "text", child): texts become text.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

function drawing(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

async function ask(path) {
  const answer = await fetch(path, token ? { headers: { Authorization: "Bearer " + token } } : {});
  if (answer.status === 401) throw new Error("token");
  return answer;
}
const askJson = async path => (await ask(path)).json();

function wantToken(refused) {
  at("ask").hidden = false;
  at("refused").hidden = !refused;
}

function verdictClass(verdict, state) {
  if (verdict === "passed") return "good";
  if (verdict === null || verdict === undefined) return state === "interrupted" ? "bad" : "busy";
  return verdict === "unsupported" || verdict === "cancelled" ? "odd" : "bad";
}

const ms = value => value < 1 ? (value * 1000).toFixed(0) + " µs" : value < 1000 ? value.toFixed(1) + " ms" : (value / 1000).toFixed(1) + " s";
function time(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) if (ns >= size) return (ns / size).toPrecision(4) + " " + unit;
  return ns.toPrecision(4) + " ns";
}
const percent = share => share === null ? "–" : Math.round(share * 100) + " %";

function showHealth(health) {
  at("health").textContent = health.status;
  at("health").className = "chip " + (health.status === "healthy" ? "good" : "bad");
  at("health").title = (health.problems || []).join("\n");
  at("devices").replaceChildren(...(health.devices || []).map(device =>
    element("span", { class: "device" }, device.name + (device.model ? " · " + device.model : ""))));
}

function showStats(stats) {
  const pair = (name, value) => element("span", {}, name + " ", element("b", {}, String(value)));
  at("numbers").replaceChildren(
    pair("active", stats.throughput.active_jobs), pair("jobs", stats.throughput.total_requests),
    pair("GPUs held", stats.gpu_utilization.active_sessions), pair("cache", percent(stats.compilation_metrics.cache_hit_rate)),
    pair("right", percent(stats.profiling_metrics.correctness_rate)));
  at("queue").textContent = stats.throughput.active_jobs ? "· " + stats.throughput.active_jobs + " under way" : "";
}

// A list knows a job's state, not its stages: how far the bar is filled follows from that.
function progressBar(job) {
  const done = kDone[job.state];
  return element("div", { class: "stages" }, ...kStages.map((stage, index) => {
    let look = "done";
    if (done !== undefined) look = index < done ? "done" : index === done ? "now" : "";
    else if (job.state === "failed" || job.state === "interrupted") look = "failed";
    return element("i", { class: look, title: stage });
  }));
}

function showJobs(jobs) {
  at("empty").hidden = jobs.length > 0;
  at("jobs").replaceChildren(...jobs.map(job => {
    const button = element("button", { type: "button", "data-job": job.job_id },
      element("div", { class: "row" },
        element("span", { class: "mono" }, job.job_id.slice(0, 8)),
        element("span", { class: "chip " + verdictClass(job.verdict, job.state) }, job.verdict || job.state)),
      element("div", { class: "what" }, job.summary || job.created),
      progressBar(job));
    if (job.job_id === chosen) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => { location.hash = job.job_id; });
    return element("li", {}, button);
  }));
}

// What is known of single lines: the compiler's diagnostics, the place of a fault.
function notesByLine(report) {
  const notes = new Map();
  const note = (line, text, severity) => {
    if (!notes.has(line)) notes.set(line, []);
    notes.get(line).push({ text, severity });
  };
  for (const one of report.diagnostics || []) if (one.line) note(one.line, one.severity + ": " + one.message, one.severity);
  const error = report.error || {};
  const place = (error.fault || error).where || {};
  if (Number.isInteger(place.line) && !(report.diagnostics || []).length) note(place.line, report.summary, "error");
  return notes;
}

function sourceView(source, report) {
  const notes = notesByLine(report);
  const view = element("div", { class: "code", id: "source" });
  source.split("\n").forEach((text, index) => {
    const line = index + 1;
    view.append(element("div", notes.has(line) ? { class: "marked", "data-line": line } : {},
      element("span", {}, String(line)), element("span", {}, text)));
    for (const one of notes.get(line) || [])
      view.append(element("div", { class: "note " + one.severity }, element("span", {}), element("span", {}, one.text)));
  });
  return view;
}

// Where an output is wrong: its elements as a picture, last dimension across, the others downwards.
function mismatchMap(output) {
  const shape = output.shape.length ? output.shape : [1];
  const across = shape[shape.length - 1] || 1;
  const down = Math.max(1, output.elements / across);
  const columns = output.map ? output.map.columns : Math.min(across, 64), rows = output.map ? output.map.rows : Math.min(down, 64);
  const cell = 7;
  const svg = drawing("svg", { class: "mismatches", viewBox: `0 0 ${columns * cell} ${rows * cell}`,
                               width: columns * cell, height: rows * cell });
  svg.append(drawing("rect", { width: "100%", height: "100%", fill: "currentColor", "fill-opacity": 0.07 }));
  const mark = (position, colour, opacity) => {
    const x = Math.floor(position % across / across * columns), y = Math.floor(Math.floor(position / across) / down * rows);
    svg.append(drawing("rect", { x: x * cell, y: y * cell, width: cell, height: cell, fill: colour, "fill-opacity": opacity }));
  };
  if (output.map) {
    const most = Math.max(...output.map.counts, 1);
    output.map.counts.forEach((count, index) => {
      if (!count) return;
      svg.append(drawing("rect", { x: index % columns * cell, y: Math.floor(index / columns) * cell,
                                   width: cell, height: cell, fill: "#b42318", "fill-opacity": 0.35 + 0.65 * count / most }));
    });
  } else {
    for (const one of output.first || []) mark(one.position, "#b42318", 0.9);
    if (output.worst) mark(output.worst.position, "#d97b29", 1);
  }
  return svg;
}

// The report in short leaves the maps out; the stages of the full one have them.
async function withMaps(job, outputs) {
  const answer = await ask(`/job/${job}/report`);
  if (!answer.ok) return outputs;
  const validated = ((await answer.json()).stages || []).find(stage => stage.name === "validated");
  const full = (validated && validated.body && validated.body.outputs) || [];
  return outputs.map(output => ({ ...output, map: (full.find(one => one.name === output.name) || {}).map }));
}

function outputsView(outputs) {
  const view = element("div", {});
  for (const output of outputs) {
    const right = output.ok;
    const facts = element("table", {}, ...[
      ["differ", output.mismatches + " of " + output.elements], ["pattern", output.pattern || "–"],
      ["largest error", String(output.max_abs_error)],
    ].map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value))));
    view.append(element("p", {}, element("b", { class: "mono" }, output.name), " ",
      element("span", { class: "chip " + (right ? "good" : "bad") }, right ? "right" : "wrong")));
    if (!right) view.append(element("div", { class: "map" }, mismatchMap(output), facts, firstView(output)));
  }
  return view;
}

function firstView(output) {
  const rows = (output.first || []).map(one => element("tr", {}, element("td", { class: "mono" }, "[" + one.index.join(", ") + "]"),
    element("td", { class: "mono" }, one.got), element("td", { class: "mono" }, one.want)));
  return element("table", {}, element("tr", {}, ...["at", "got", "want"].map(name => element("th", {}, name))), ...rows);
}

function timingView(report) {
  const timing = report.timing;
  const rows = [["runs", timing.runs + (timing.requested ? " of " + timing.requested : "")], ["clock", timing.clock || "–"]];
  for (const view of ["cold", "warm", "graph"])
    if (timing[view] && timing[view].median_ns !== undefined) rows.push([view, time(timing[view].median_ns)]);
  const stats = report.kernel_exec_result.runtime_stats;
  if (!timing.cold && stats) rows.push(["median", time(stats.median * 1e6)], ["minimum", time(stats.min * 1e6)]);
  if (report.speedup) rows.push(["speed-up", `${report.speedup.ratio.toFixed(3)} (${report.speedup.low.toFixed(3)} … ${report.speedup.high.toFixed(3)}), ${report.speedup.verdict}`]);
  return element("div", {}, element("table", {}, ...rows.map(([name, value]) =>
    element("tr", {}, element("th", {}, name), element("td", {}, String(value))))), timing.note ? element("p", { class: "what" }, timing.note) : null);
}

// Both axes by powers of ten: FLOP per byte from 10^-3 to 10^4 against `decades` below the highest value.
function logPlot(highest, decades) {
  const wide = 420, high = 240, top = Math.log10(highest), clamp = v => Math.min(Math.max(v, 0), 1);
  const svg = drawing("svg", { class: "roofline", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high });
  const x = v => 20 + clamp((Math.log10(v) + 3) / 7) * (wide - 40), y = v => 20 + clamp((top - Math.log10(v)) / decades) * (high - 40);
  const line = (points, attributes) => svg.append(drawing("polyline", { fill: "none", stroke: "currentColor",
    points: points.map(([a, b]) => x(a) + "," + y(b)).join(" "), ...attributes }));
  line([[1e-3, highest], [1e-3, highest / 10 ** decades], [1e4, highest / 10 ** decades]], { opacity: 0.3 });
  return { svg, x, y, line };
}

// The emulator's counts: where under the roof of the GPU that it names the kernel can be at best. No time is in it.
function estimateView(estimate) {
  const { low, high } = estimate.arithmetic_intensity, ridge = estimate.ridge_flops_per_byte;
  const told = `${estimate.bound} on ${estimate.gpu}, whose ridge is at ${ridge.toPrecision(3)} FLOP per byte. ${estimate.note}`;
  if (!(low > 0) || !(high > 0)) return element("p", {}, told);
  const plot = logPlot(1, 5), roof = v => Math.min(1, v / ridge);
  plot.line([1e-3, ridge, 1e4].map(v => [v, roof(v)]));
  const inside = [low, ...(low < ridge && ridge < high ? [ridge] : []), high];
  plot.line(inside.map(v => [v, roof(v)]), { class: "reach", stroke: "#d97b29", "stroke-width": 8, "stroke-linecap": "round" });
  return element("div", {}, plot.svg, element("p", {}, `${low.toPrecision(3)} to ${high.toPrecision(3)} FLOP per byte: ${told}`));
}

// A GPU's counters: what was reached.
function reachedView(roof) {
  const plot = logPlot(1e6, 6);
  plot.svg.append(drawing("circle", { cx: plot.x(roof.arithmetic_intensity), cy: plot.y(roof.gflops), r: 5, fill: "#d97b29" }));
  return element("div", {}, plot.svg, element("p", {}, `${roof.arithmetic_intensity.toPrecision(3)} FLOP per byte, ${roof.gflops.toPrecision(4)} GFLOP/s`));
}

function rooflineView(report) {
  if (report.device_metrics && report.device_metrics.estimate) return estimateView(report.device_metrics.estimate);
  const counted = report.kernel_exec_result.metadata.device_metrics || {};
  const roof = (counted.custom_device_metrics || counted.original_device_metrics || {}).roofline_metrics;
  return roof && roof.arithmetic_intensity > 0 && roof.gflops > 0 ? reachedView(roof) : null;
}

// With the token, which an <img> would not send.
async function picture(path) {
  const answer = await ask(path);
  if (!answer.ok) return null;
  return element("img", { class: "histogram", alt: "histogram of the timed runs",
                          src: URL.createObjectURL(new Blob([await answer.text()], { type: "image/svg+xml" })) });
}

function partsView(job, report) {
  const view = element("div", { class: "parts" }), text = element("pre", { hidden: "" });
  const names = (report.artifacts || []).filter(one => /^text|json/.test(one.media_type)).map(one => one.name);
  for (const name of [...new Set(names), "report"]) {
    const button = element("button", { type: "button" }, name);
    button.addEventListener("click", async () => {
      text.textContent = await (await ask(`/job/${job}/${name}`)).text();
      text.hidden = false;
    });
    view.append(button);
  }
  view.append(text);
  return view;
}

async function drawReport(job) {
  const report = job.result, article = at("report"), parts = [];
  const section = (title, ...content) => content.some(one => one) && parts.push(element("h3", {}, title), ...content.filter(one => one));
  parts.push(element("h2", {}, element("span", { class: "chip " + verdictClass(report.verdict, report.state), id: "verdict" }, report.verdict || report.state),
    " ", report.trust ? element("span", { class: "chip" }, "trust: " + report.trust) : null, " ", element("span", { class: "mono" }, job.job_id)));
  parts.push(element("p", { id: "summary" }, report.summary));
  section("Stages", element("ol", { class: "steps" }, ...report.stages.map(stage => element("li", { title: stage.reason || "" },
    element("span", { class: stage.status === "passed" ? "good" : stage.status === "failed" ? "bad" : "odd" }, stage.name), " ",
    element("small", {}, stage.status === "skipped" ? "skipped" : ms(stage.ms))))));
  const source = await ask(`/job/${job.job_id}/source`);
  if (source.ok) section("Source", sourceView(await source.text(), report));
  const elsewhere = (report.diagnostics || []).filter(one => !one.line).map(one => one.severity + ": " + one.message);
  if (elsewhere.length) section("Diagnostics", element("pre", {}, elsewhere.join("\n")));
  const outputs = report.validation && report.validation.outputs;
  if (outputs && outputs.length)
    section("Outputs", outputsView(outputs.every(one => one.ok) ? outputs : await withMaps(job.job_id, outputs)));
  if (report.timing) section("Timing", timingView(report), await picture(`/job/${job.job_id}/plot.svg`));
  if (report.kernel_exec_result) section("Roofline", rooflineView(report));
  const notes = [...(report.warnings || []).map(one => one.message), ...(report.evidence || []).map(one => `${one.check}: ${one.result}`)];
  if (notes.length) section("Warnings and evidence", element("ul", {}, ...notes.map(text => element("li", {}, text))));
  section("Parts", partsView(job.job_id, report));
  if (job.job_id !== chosen) return;  // another was chosen meanwhile
  article.replaceChildren(...parts);
  article.hidden = false;
}

async function showReport() {
  if (!chosen) return;
  const answer = await ask("/job/" + encodeURIComponent(chosen) + "?detail=short");
  if (!answer.ok) {
    at("report").replaceChildren(element("p", {}, "There is no such job of yours (any more)."));
    at("report").hidden = false;
    return;
  }
  const job = await answer.json();
  const seen = job.job_id + job.updated_at + job.status + job.result.stages.length;
  if (seen === shown) return;
  shown = seen;
  await drawReport(job);
}

async function refresh() {
  try {
    showHealth(await (await fetch("/health")).json());
    const [stats, list] = await Promise.all([askJson("/stats"), askJson("/jobs?limit=50")]);
    at("ask").hidden = true;
    showStats(stats);
    showJobs(list.jobs);
    await showReport();
  } catch (fault) {
    if (fault.message === "token") wantToken(token !== "");
    else { at("health").textContent = "no answer"; at("health").className = "chip bad"; }
  }
}

async function live() {
  if (!document.hidden) await refresh();
  setTimeout(live, kPollMs);
}

at("enter").addEventListener("click", () => {
  token = at("token").value.trim();
  sessionStorage.setItem("token", token);
  refresh();
});
at("token").addEventListener("keydown", event => { if (event.key === "Enter") at("enter").click(); });
addEventListener("hashchange", () => { chosen = location.hash.slice(1); shown = ""; refresh(); });
live();
