// The bars that can be dragged, and what moves with them. Needs `spec` of laws.js.
"use strict";
const playground = (() => {
  const TOKENS = ["a", "b", "c", "d", "e"];
  const PRESETS = {
    "a usual pair": [[0.4, 0.25, 0.2, 0.1, 0.05], [0.2, 0.4, 0.1, 0.1, 0.2]],
    "equal": [[0.3, 0.25, 0.2, 0.15, 0.1], [0.3, 0.25, 0.2, 0.15, 0.1]],
    "opposed": [[0.6, 0.3, 0.1, 0, 0], [0, 0, 0.1, 0.3, 0.6]],
    "a sure draft": [[0.35, 0.25, 0.2, 0.15, 0.05], [1, 0, 0, 0, 0]],
  };
  const root = document.getElementById("playground");
  const state = { target: [], draft: [], k: 2, strictness: 0.8, shown: null };
  const make = (tag, attributes = {}, text = "") => {
    const node = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
    node.textContent = text;
    return node;
  };
  const bars = { target: [], draft: [] };

  // One mass is set, the others keep their proportions: what is shown is always a law.
  const setMass = (name, token, wanted) => {
    const law = state[name];
    const mass = Math.min(1, Math.max(0, wanted));
    const others = 1 - law[token];
    state[name] = law.map((value, i) => {
      if (i === token) return mass;
      return others > 1e-12 ? (value * (1 - mass)) / others : (1 - mass) / (law.length - 1);
    });
    refresh();
  };

  const bar = (name, token) => {
    const column = make("div", { class: `bar ${name}`, role: "slider", tabindex: "0", "aria-orientation": "vertical",
      "aria-label": `${name} mass of token ${TOKENS[token]}`, "aria-valuemin": "0", "aria-valuemax": "100" });
    column.append(make("span", { class: "fill" }), make("output"), make("b", {}, TOKENS[token]));
    const toMass = (event) => {
      const box = column.getBoundingClientRect();
      setMass(name, token, Math.round(100 * (box.bottom - event.clientY) / box.height) / 100);
    };
    column.addEventListener("pointerdown", (event) => { column.setPointerCapture(event.pointerId); toMass(event); });
    column.addEventListener("pointermove", (event) => { if (event.buttons & 1) toMass(event); });
    column.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1 };
      const mass = state[name][token];
      const wanted = event.key === "Home" ? 0 : event.key === "End" ? 1 : mass + (step[event.key] ?? NaN);
      if (Number.isNaN(wanted)) return;
      event.preventDefault();
      setMass(name, token, wanted);
    });
    bars[name].push(column);
    return column;
  };

  const build = () => {
    const laws = make("div", { class: "laws" });
    for (const name of ["target", "draft"]) {
      const group = make("div", { role: "group", "aria-label": `${name} distribution` });
      group.append(make("h3", {}, name), make("div", { class: "row" }));
      TOKENS.forEach((_, token) => group.lastChild.append(bar(name, token)));
      laws.append(group);
    }
    const controls = make("p", { class: "controls" });
    const label = make("label", { for: "drafts" }, "drafts k ");
    const slider = make("input", { id: "drafts", type: "range", min: "1", max: "4", value: state.k });
    slider.addEventListener("input", () => { state.k = Number(slider.value); refresh(); });
    controls.append(label, slider, make("output", { id: "k" }));
    const strict = make("input", { id: "strictness", type: "range", min: "0.05", max: "1", step: "0.05", value: state.strictness });
    strict.addEventListener("input", () => { state.strictness = Number(strict.value); refresh(); });
    controls.append(make("label", { for: "strictness" }, "strictness of lossy rules "), strict,
      make("output", { id: "strict" }));
    Object.entries(PRESETS).forEach(([name, [target, draft]]) => {
      const button = make("button", { type: "button" }, name);
      button.addEventListener("click", () => { state.target = [...target]; state.draft = [...draft]; refresh(); });
      controls.append(button);
    });
    root.append(laws, controls, make("p", { id: "sentence", "aria-live": "polite" }),
      make("div", { id: "schemes", role: "radiogroup", "aria-label": "scheme whose coupling is shown" }),
      make("h3", { id: "coupling-title" }), make("div", { id: "coupling", class: "wide" }));
  };

  const percent = (mass) => `${(100 * mass).toFixed(1)} %`;
  const named = (set) => `{${TOKENS.filter((_, token) => set & (1 << token)).join(", ")}}`;

  const drawSchemes = (found, best) => {
    const box = document.getElementById("schemes");
    const focused = box.contains(document.activeElement);
    box.replaceChildren();
    found.forEach((scheme, place) => {
      const chosen = place === state.shown;
      const lossy = scheme.totalVariation > 1e-9;
      const row = make("div", { class: `scheme${lossy ? " lossy" : ""}${chosen ? " chosen" : ""}`, role: "radio",
        tabindex: chosen ? "0" : "-1", "aria-checked": String(chosen) });
      const verdict = !lossy ? percent(scheme.acceptance) : scheme.possible === undefined
        ? `lossy: off by ${percent(scheme.totalVariation)}`
        : `${percent(scheme.acceptance)}, off by ${percent(scheme.totalVariation)}`;
      const meter = make("span", { class: "meter" });
      meter.append(make("i", { style: `width:${100 * scheme.acceptance}%` }),
        make("s", { style: `left:${100 * (scheme.possible ?? best)}%` }));
      const other = scheme.drafts === state.k ? "" : scheme.drafts === 1 ? " (one draft)" : ` (${scheme.drafts} drafts)`;
      row.append(make("span", {}, scheme.name + other), meter, make("output", {}, verdict));
      const choose = (at) => { state.shown = (at + found.length) % found.length; refresh(); };
      row.addEventListener("click", () => choose(place));
      row.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        choose(place + step);
      });
      box.append(row);
      if (chosen && focused) row.focus();
    });
  };

  const drawCoupling = (scheme) => {
    document.getElementById("coupling-title").textContent = `Coupling of ${scheme.name}: drafts (rows), emitted (columns)`;
    const table = make("table");
    const head = make("tr");
    head.append(make("th", { scope: "col" }, "drafts"), ...TOKENS.map((token) => make("th", { scope: "col" }, token)));
    table.append(head);
    [...scheme.rows].sort(([a], [b]) => a - b).forEach(([set, masses]) => {
      const line = make("tr");
      line.append(make("th", { scope: "row" }, named(set)));
      masses.forEach((mass, token) => {
        const kept = set & (1 << token) ? "kept" : "missed";
        const shade = `--shade:${Math.round(100 * Math.min(1, 2.5 * mass))}%`;
        line.append(make("td", { class: mass > 1e-12 ? kept : "", style: shade }, mass > 1e-12 ? mass.toFixed(3) : "·"));
      });
      table.append(line);
    });
    document.getElementById("coupling").replaceChildren(table);
  };

  const refresh = () => {
    for (const name of ["target", "draft"]) {
      bars[name].forEach((column, token) => {
        const mass = state[name][token];
        column.style.setProperty("--height", `${100 * mass}%`);
        column.setAttribute("aria-valuenow", (100 * mass).toFixed(1));
        column.querySelector("output").textContent = (100 * mass).toFixed(0);
      });
    }
    document.getElementById("k").textContent = state.k;
    document.getElementById("strict").textContent = state.strictness.toFixed(2);
    const found = spec.numbers(state.target, state.draft, state.k, state.strictness);
    const best = found.find((scheme) => scheme.best);
    state.shown ??= found.indexOf(best);
    const drafts = state.k === 1 ? "one draft" : `${state.k} independent drafts`;
    const sentence = best.bounding
      ? `No verifier of ${drafts} keeps one more often than ${percent(best.acceptance)}: the set ${named(best.bounding)} bounds it.`
      : `Nothing stands in the way: some verifier of ${drafts} keeps one every time.`;
    document.getElementById("sentence").textContent = sentence;
    drawSchemes(found, best.acceptance);
    drawCoupling(found[state.shown]);
  };

  [state.target, state.draft] = Object.values(PRESETS)[0].map((law) => [...law]);
  build();
  refresh();
  return { state, numbers: () => spec.numbers(state.target, state.draft, state.k, state.strictness), setMass };
})();
