// A chain of drafts verified in JavaScript. With the argument "wrong" the last token is drawn from the row before.
//
// spec-math audit --command "node chain.js"
const { createInterface } = require("node:readline");

const draw = (masses, uniform) => {
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  let sum = 0;
  const drawn = masses.findIndex((mass) => (sum += mass) > uniform * total && mass > 0);
  return drawn < 0 ? masses.findLastIndex((mass) => mass > 0) : drawn;
};

const verify = ({ target, draft, drafts, uniforms }, wrong) => {
  const last = uniforms[drafts.length];
  for (const [at, token] of drafts.entries()) {
    if (uniforms[at] * draft[at][token] < target[at][token]) continue;
    return [...drafts.slice(0, at), draw(target[at].map((mass, other) => Math.max(0, mass - draft[at][other])), last)];
  }
  return [...drafts, draw(target[drafts.length - (wrong ? 1 : 0)], last)];
};

// The adapter.
createInterface({ input: process.stdin }).on("line", (line) => {
  console.log(JSON.stringify({ tokens: verify(JSON.parse(line), process.argv[2] === "wrong") }));
});
