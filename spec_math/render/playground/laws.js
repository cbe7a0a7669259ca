// Schemes as programs against a coin, and their law by walking every path: the library's method, on floats.
"use strict";
const spec = (() => {
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const divided = (values) => { const total = sum(values); return values.map((value) => value / total); };
  const excess = (target, draft, scale) => sum(target.map((mass, i) => Math.max(mass - scale * draft[i], 0)));
  const firstMaximum = (values) => values.indexOf(Math.max(...values));

  // Where target and draft agree nothing is left, and no test rejects: the residual is the target itself.
  const residual = (target, draft) => {
    const left = target.map((mass, i) => Math.max(mass - draft[i], 0));
    return sum(left) > 0 ? divided(left) : target;
  };
  const without = (draft, tokens) =>
    tokens.length ? divided(draft.map((mass, i) => (tokens.includes(i) ? 0 : mass))) : draft;

  // All paths of a program, each with its probability: the choices made so far are replayed, the last one advances.
  const walk = (program, visit) => {
    const tape = [];
    do {
      let place = 0;
      let weight = 1;
      const choose = (masses) => {
        if (place === tape.length) {
          tape.push({ options: masses.flatMap((mass, i) => (mass > 0 ? [i] : [])), at: 0 });
        }
        const { options, at } = tape[place++];
        weight *= masses[options[at]];
        return options[at];
      };
      const result = program({ draw: choose, flip: (chance) => choose([Math.min(chance, 1), 1 - Math.min(chance, 1)]) === 0 });
      visit(result, weight);
      tape.length = place;
      while (tape.length && tape[tape.length - 1].at + 1 >= tape[tape.length - 1].options.length) tape.pop();
      if (tape.length) tape[tape.length - 1].at += 1;
    } while (tape.length);
  };

  const independent = (coin, draft, k) => Array.from({ length: k }, () => coin.draw(draft));
  const successive = (coin, draft, k) => {
    const tokens = [];
    const wanted = Math.min(k, draft.filter((mass) => mass > 0).length);
    while (tokens.length < wanted) tokens.push(coin.draw(without(draft, tokens)));
    return tokens;
  };
  const topAndOne = (coin, draft, k) => {
    const order = draft.map((_, i) => i).sort((a, b) => draft[b] - draft[a] || a - b);
    const top = order.slice(0, Math.min(k, draft.filter((mass) => mass > 0).length) - 1);
    return [...top, coin.draw(without(draft, top))];
  };
  const withHub = (coin, draft) => {
    const hub = firstMaximum(draft);
    const first = coin.draw(draft);
    if (first !== hub) return [first, hub];
    return draft.filter((mass) => mass > 0).length === 1 ? [hub] : [hub, coin.draw(without(draft, [hub]))];
  };

  // The least gamma in [1, k] with f(gamma) <= 0, by halving: f decreases.
  const gammaStar = (target, draft, k) => {
    const f = (gamma) => { const left = excess(target, draft, gamma); return left - (1 - (1 - left) / gamma) ** k; };
    if (f(1) <= 0) return 1;
    let [low, high] = [1, k];
    for (let step = 0; step < 60; step += 1) {
      const middle = (low + high) / 2;
      if (f(middle) > 0) low = middle; else high = middle;
    }
    return high;
  };

  const verifyByGamma = (coin, tokens, target, draft) => {
    const gamma = gammaStar(target, draft, tokens.length);
    const passed = target.map((mass, i) => Math.min(draft[i], mass / gamma));
    const missed = 1 - sum(passed);
    const share = sum(tokens.map((_, j) => missed ** j));
    for (const x of tokens) if (coin.flip(target[x] / (gamma * draft[x]))) return x;
    const left = target.map((mass, i) => Math.max(mass - passed[i] * share, 0));
    return coin.draw(sum(left) > 0 ? divided(left) : target);
  };
  const verifyInTurn = (distinct) => (coin, tokens, target, draft) => {
    let rest = target;
    for (const [place, x] of tokens.entries()) {
      const current = distinct ? without(draft, tokens.slice(0, place)) : draft;
      if (coin.flip(rest[x] / current[x])) return x;
      rest = residual(rest, current);
    }
    return coin.draw(rest);
  };
  const verifyLast = (coin, tokens, target, draft) => {
    const rest = without(draft, tokens.slice(0, -1));
    const x = tokens[tokens.length - 1];
    return coin.flip(target[x] / rest[x]) ? x : coin.draw(residual(target, rest));
  };
  const verifyHub = (coin, tokens, target, draft) => {
    const hub = firstMaximum(draft);
    const rest = tokens.length === 2 ? without(draft, [hub]) : draft.map(() => 0);
    const x = tokens.find((token) => token !== hub);
    if (x !== undefined) {
      const chance = tokens[0] === x ? target[x] / draft[x]
        : Math.max(target[x] - draft[x], 0) / (draft[hub] * rest[x]);
      if (coin.flip(chance)) return x;
    }
    const lacking = target.map((mass, i) => Math.max(mass - rest[i], 0));
    if (sum(lacking) === 0 || coin.flip(target[hub] / sum(lacking))) return hub;
    return coin.draw(divided(lacking.map((mass, i) => (i === hub ? 0 : mass))));
  };
  const verifyWrongly = (coin, [x], target, draft) => (coin.flip(target[x] / draft[x]) ? x : coin.draw(target));

  // Each: name, how many drafts it takes (0: any number), how they are drawn, how they are verified.
  const SCHEMES = [
    ["maximal coupling", 1, independent, verifyInTurn(false)],
    ["one-hot draft", 1, (coin, draft) => [firstMaximum(draft)],
      (coin, [x], target) => (coin.flip(target[x]) ? x : coin.draw(residual(target, target.map((_, i) => +(i === x)))))],
    ["sample and match", 1, independent, (coin, tokens, target) => coin.draw(target)],
    ["K-SEQ at γ*", 0, independent, verifyByGamma],
    ["recursive rejection", 0, independent, verifyInTurn(false)],
    ["recursive rejection without replacement", 0, successive, verifyInTurn(true)],
    ["greedy drafts", 0, topAndOne, verifyLast],
    ["SpecHub", 2, withHub, verifyHub],
    ["a bug: the target as residual", 1, independent, verifyWrongly],
  ];

  // Rules that change the law on purpose, at one strictness: 1 is lossless, and what is smaller keeps more drafts.
  const lossyAt = (strictness) => [
    ["ensemble", 1, independent, (coin, [x], target, draft) =>
      (coin.flip((draft[x] - strictness * draft[x] + strictness * target[x]) / draft[x]) ? x
        : coin.draw(residual(target, draft)))],
    ["lenience", 1, independent, (coin, [x], target, draft) => {
      const scaled = draft.map((mass) => strictness * mass);
      return coin.flip(target[x] / scaled[x]) ? x : coin.draw(residual(target, scaled));
    }],
  ];

  const subset = (tokens) => tokens.reduce((mask, token) => mask | (1 << token), 0);

  // The joint law of (set of drafts, emitted token): rows by set, as bits.
  const coupling = ([, drafts, draw, verify], target, draft, k) => {
    const rows = new Map();
    walk((coin) => {
      const tokens = draw(coin, draft, drafts || k);
      return [subset(tokens), verify(coin, tokens, target, draft)];
    }, ([set, emitted], weight) => {
      if (!rows.has(set)) rows.set(set, target.map(() => 0));
      rows.get(set)[emitted] += weight;
    });
    return rows;
  };
  const acceptance = (rows) => {
    let total = 0;
    for (const [set, row] of rows) row.forEach((mass, token) => { if (set & (1 << token)) total += mass; });
    return total;
  };
  const totalVariation = (rows, target) => {
    const emitted = target.map((_, token) => sum([...rows.values()].map((row) => row[token])));
    return sum(target.map((mass, token) => Math.max(mass - emitted[token], 0)));
  };

  // What no verifier exceeds: 1 - max over subsets H of [P(all drafts in H) - target(H)].
  const setsOf = (draw, draft, k) => {
    const sets = new Map();
    walk((coin) => subset(draw(coin, draft, k)), (set, weight) => sets.set(set, (sets.get(set) || 0) + weight));
    return sets;
  };
  const optimum = (target, sets) => {
    let [gap, bounding] = [0, 0];
    for (let H = 1; H < 1 << target.length; H += 1) {
      let value = 0;
      for (const [set, mass] of sets) if ((set & ~H) === 0) value += mass;
      target.forEach((mass, token) => { if (H & (1 << token)) value -= mass; });
      if (value > gap + 1e-15) [gap, bounding] = [value, H];
    }
    return { value: 1 - gap, bounding };
  };

  // A coupling that reaches it: the largest flow from sets of drafts to the tokens in them, the rest at random.
  const optimalCoupling = (target, sets) => {
    const names = [...sets.keys()];
    const supply = names.map((set) => sets.get(set));
    const demand = [...target];
    const flow = names.map(() => target.map(() => 0));
    const least = 1e-16;
    for (;;) {
      const from = new Map();
      const queue = names.flatMap((_, i) => (supply[i] > least ? [i] : []));
      const roots = new Set(queue);
      const seen = target.map(() => -1);
      let end = -1;
      while (queue.length && end < 0) {
        const i = queue.shift();
        target.forEach((_, token) => {
          if (end >= 0 || seen[token] >= 0 || !(names[i] & (1 << token))) return;
          seen[token] = i;
          if (demand[token] > least) { end = token; return; }
          names.forEach((__, other) => {
            if (flow[other][token] > least && !roots.has(other) && !from.has(other)) {
              from.set(other, token);
              queue.push(other);
            }
          });
        });
      }
      if (end < 0) break;
      const path = [];
      let token = end;
      let amount = demand[end];
      for (;;) {
        const i = seen[token];
        path.push([i, token, 1]);
        if (!from.has(i)) { amount = Math.min(amount, supply[i]); break; }
        token = from.get(i);
        amount = Math.min(amount, flow[i][token]);
        path.push([i, token, -1]);
      }
      for (const [i, at, sign] of path) flow[i][at] += sign * amount;
      supply[path[path.length - 1][0]] -= amount;
      demand[end] -= amount;
    }
    const left = sum(demand);
    if (left > least) names.forEach((_, i) => demand.forEach((mass, at) => { flow[i][at] += (supply[i] * mass) / left; }));
    return new Map(names.map((set, i) => [set, flow[i]]));
  };

  // Every number that is shown: one list for the table, the picture and the tests.
  const numbers = (target, draft, k, strictness) => {
    const measured = (scheme) => {
      const rows = coupling(scheme, target, draft, k);
      return { name: scheme[0], drafts: scheme[1] || k, acceptance: acceptance(rows), rows,
        totalVariation: totalVariation(rows, target) };
    };
    const optima = [["optimum, independent drafts", independent], ["optimum, without replacement", successive]].map(
      ([name, draw]) => {
        const sets = setsOf(draw, draft, k);
        const { value, bounding } = optimum(target, sets);
        const rows = optimalCoupling(target, sets);
        return { name, drafts: k, acceptance: value, bounding, rows, totalVariation: totalVariation(rows, target),
          best: draw === independent };
      });
    // A unit of total variation buys at most a unit of acceptance.
    const single = optimum(target, setsOf(independent, draft, 1)).value;
    const lossy = lossyAt(strictness).map(measured);
    for (const rule of lossy) rule.possible = Math.min(1, single + rule.totalVariation);
    return [...SCHEMES.map(measured), ...optima, ...lossy];
  };
  return { numbers, acceptance };
})();
