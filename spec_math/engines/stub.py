"""A stub engine on tables, right or with one of sixteen planted bugs: over the driver's protocol and over HTTP.

`python -m spec_math.engines.stub PAIR [BUG]` speaks the lines of `engines.protocol`; with --http PORT it is an
OpenAI-compatible server. It shows what an audit of an engine finds, and tests the audit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.engines.exact import Table
from spec_math.engines.options import HISTORY, Text, known, processed, softmax
from spec_math.engines.pair import Pair, read
from spec_math.engines.protocol import About, Answer, Request

BUGS = {
    "draft_processors": "the draft is drawn at half its temperature and reported before",
    "residual_row": "the residual is taken from the row of the next position",
    "shared_coin": "the residual is drawn with the random number that drew the draft",
    "one_stream": "all requests of a batch draw the same random numbers",
    "penalty_per_step": "penalties count a token once a step, not within the drafted block",
    "min_p_ignored": "min-p is ignored under speculation",
    "last_in_batch": "the last request of a batch is verified against the draft's rows",
    "stale_cache": "after two or more acceptances and then none, rows lack the last token",
    "bonus_temperature": "the bonus token is drawn at half the temperature",
    "draft_logprobs": "the draft's log-probabilities are returned for the target's",
    "seed_ignored": "seeds are ignored",
    "end_passed": "the text goes on after an accepted end token",
    "redraw": "a rejection redraws from the target",
    "greedy_drift": "at temperature 0 a draft among the best two is accepted",
    "bias_on_bonus": "the logit bias reaches the bonus token alone",
    "bad_words_accepted": "bad words are removed from residual and bonus rows, not from drafts and verified rows",
}
"""The planted bugs by name, and what each does. The first twelve are those of title 15."""

IGNORED = {"min_p_ignored": "min_p", "bias_on_bonus": "logit_bias", "bad_words_accepted": "bad_words"}
"""The option that a round does not apply, by bug."""
LOOKAHEAD = 3


@dataclass
class _Run:
    """A request while it is decoded."""

    request: Request
    rng: np.random.Generator
    last: bool
    text: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    accepted: list[int] = field(default_factory=list[int])

    @property
    def left(self) -> int:
        return self.request.number - len(self.text)


class Stub:
    """A speculative engine of a pair of tables: drafts of `lookahead` tokens, verified by the rule of Leviathan et al.

    Raises:
        ValueError: the pair is not one of tables, or there is no such bug.

    >>> from spec_math.engines.pair import PairShape, tables
    >>> stub = Stub(tables(PairShape(size=8)))
    >>> answers = stub.ask([Request((0,), 5, seed=1)], 3)
    >>> answers == stub.ask([Request((0,), 5, seed=1)], 3), len(answers[0].tokens) <= 5
    (True, True)
    """

    def __init__(self, pair: Pair, bug: str = "none", seed: int = 0) -> None:
        if not isinstance(pair.target, Table) or not isinstance(pair.draft, Table):
            raise ValueError("the stub engine needs a pair of tables: spec-math engine pair --kind tables")
        if bug not in ("none", *BUGS):
            raise ValueError(f"there is no planted bug {bug!r}; there are {', '.join(BUGS)}")
        self.about = About("stub", f"bug: {bug}", logprobs="processed")
        self._target, self._draft, self._bug = pair.target, pair.draft, bug
        self._unseeded = np.random.default_rng([seed, 7])
        self._rows: dict[Any, Array] = {}

    def ask(self, requests: Sequence[Request], lookahead: int | None) -> list[Answer]:
        """Return the answers to one batch; options that it does not know are refused."""
        k = LOOKAHEAD if lookahead is None else lookahead
        first = requests[0].seed
        found: list[Answer] = []
        for place, request in enumerate(requests):
            try:
                known(request.options)
            except ValueError as error:
                found.append(Answer(refused=str(error)))
                continue
            seed = first if self._bug == "one_stream" and k else request.seed
            rng = self._unseeded if seed is None or (self._bug == "seed_ignored" and k) else np.random.default_rng(seed)
            found.append(self._decoded(_Run(request, rng, place == len(requests) - 1 and place > 0), k))
        return found

    def _decoded(self, run: _Run, k: int) -> Answer:
        while run.left and not (run.text and run.text[-1] == self._target.end):
            if k:
                self._round(run, k)
            else:
                self._emit(run, _inverse(self._law(self._target, run, ()), run.rng.random()))
        return Answer(tuple(run.text), tuple(run.logprobs), tuple(run.accepted) if k else None)

    def _round(self, run: _Run, k: int) -> None:
        """Draft up to k tokens, verify them, and emit the accepted ones and one more."""
        bug = self._bug
        stale = bug == "stale_cache" and len(run.accepted) > 1 and run.accepted[-2] >= 2 and run.accepted[-1] == 0
        ignored = IGNORED.get(bug, "")
        without = ignored if bug == "bad_words_accepted" else ""
        drafted: list[int] = []
        reported: list[Array] = []
        numbers: list[float] = []
        for _ in range(min(k, run.left)):
            law = self._law(self._draft, run, drafted, without)
            drawn_from = law**2 / (law**2).sum() if bug == "draft_processors" else law
            numbers.append(float(run.rng.random()))
            drafted.append(_inverse(drawn_from, numbers[-1]))
            reported.append(law)
            if drafted[-1] == self._target.end and bug != "end_passed":
                break
        verified_by = self._draft if bug == "last_in_batch" and run.last else self._target
        laws = [self._law(verified_by, run, drafted[:i], ignored, stale) for i in range(len(drafted))]
        for i, token in enumerate(drafted):
            t, d = laws[i], reported[i]
            if self._accepts(run, t, d, token):
                self._emit(run, token, d)
                if not run.left or (token == self._target.end and bug != "end_passed"):
                    run.accepted.append(i + 1)
                    return
                continue
            run.accepted.append(i)
            self._reject(run, (t, d), (laws, reported), i, numbers[i])
            return
        run.accepted.append(len(drafted))
        law = self._law(self._target, run, ())
        if bug == "bonus_temperature":
            law = law**2 / (law**2).sum()
        if not (run.text[-1] == self._target.end and bug != "end_passed"):
            self._emit(run, _inverse(law, run.rng.random()))

    def _accepts(self, run: _Run, t: Array, d: Array, token: int) -> bool:
        if self._bug == "greedy_drift" and run.request.options.get("temperature") == 0:
            raw = self._target.row((*run.request.prompt, *run.text))
            return bool((raw > raw[token]).sum() < 2)
        return bool(run.rng.random() * d[token] < t[token])

    def _reject(self, run: _Run, here: Any, rows: Any, i: int, number: float) -> None:
        """Emit a token of the residual after a rejection."""
        (t, d), (laws, reported) = here, rows
        if self._bug == "bad_words_accepted":
            t = self._law(self._target, run, ())
        residual = t if self._bug == "redraw" else np.maximum(t - d, 0)
        if self._bug == "residual_row" and i + 1 < len(laws):
            residual = np.maximum(laws[i + 1] - reported[i + 1], 0)
        residual = residual if residual.sum() > 0 else t
        drawn = _inverse(residual, number if self._bug == "shared_coin" else run.rng.random())
        self._emit(run, drawn, d)

    def _emit(self, run: _Run, token: int, drafted: Array | None = None) -> None:
        """Append a token and its log-probability, which is right whatever the token was drawn from, but for one bug."""
        wrong = drafted if self._bug == "draft_logprobs" else None
        law = self._law(self._target, run, ()) if wrong is None else wrong
        run.text.append(token)
        run.logprobs.append(float(np.log(max(law[token], 1e-300))))

    def _law(self, model: Table, run: _Run, drafted: Sequence[int], ignored: str = "", stale: bool = False) -> Array:
        """Return the distribution [V] after the text and drafts so far, under the options of the request."""
        prefix = (*run.request.prompt, *run.text, *drafted)
        if stale:
            prefix = prefix[:-1]
        options = {name: value for name, value in run.request.options.items() if name != ignored}
        if not options:
            return self._kept((id(model), prefix[-2:]), lambda: softmax(model.row(prefix)))
        late = self._bug == "penalty_per_step" and any(name.endswith("_penalty") for name in options)
        text: Text = (*run.text, *(() if late else drafted))
        rows = model.row(prefix)[None]
        if HISTORY & set(options):
            return processed(rows, options, [run.request.prompt], [text], model.end).masses[0]
        key = (id(model), prefix[-2:], json.dumps(options, sort_keys=True))
        return self._kept(key, lambda: processed(rows, options, [()], [()]).masses[0])

    def _kept(self, key: Any, make: Any) -> Array:
        if key not in self._rows:
            self._rows[key] = make()
        return self._rows[key]


def _inverse(law: Array, number: float) -> int:
    """Return the token at a quantile of unnormalised masses [V]; never one of mass 0."""
    sums = law.cumsum()
    return int(sums.searchsorted(number * sums[-1], side="right"))


def completion(stub: Stub, characters: str, asked: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return status and body of POST /v1/completions: text, tokens and log-probabilities of one prompt.

    >>> from spec_math.engines.pair import PairShape, tables
    >>> stub = Stub(tables(PairShape(size=5)))
    >>> status, body = completion(stub, "abcd.", {"prompt": "ab", "max_tokens": 3, "seed": 1})
    >>> status, len(body["choices"][0]["text"]) <= 3
    (200, True)
    """
    plain = {"model", "prompt", "max_tokens", "seed", "logprobs", "stream", "stop"}
    try:
        prompt = tuple(characters.index(one) for one in asked["prompt"])
        options = {name: value for name, value in asked.items() if name not in plain}
        if "bad_words" in options:
            options["bad_words"] = [[characters.index(one) for one in word] for word in options["bad_words"]]
        answer = stub.ask([Request(prompt, int(asked.get("max_tokens", 16)), options, asked.get("seed"))], None)[0]
    except (KeyError, ValueError, TypeError) as error:
        return 400, {"error": {"message": f"bad request: {error}"}}
    if answer.refused is not None:
        return 400, {"error": {"message": answer.refused}}
    spelled = [characters[token] for token in answer.tokens]
    finish = "stop" if answer.tokens[-1:] == (len(characters) - 1,) else "length"
    logprobs = {"tokens": spelled, "token_logprobs": list(answer.logprobs or ())}
    choice = {"index": 0, "text": "".join(spelled), "logprobs": logprobs, "finish_reason": finish}
    return 200, {"object": "text_completion", "model": "stub", "choices": [choice]}


def server(stub: Stub, characters: str, port: int) -> ThreadingHTTPServer:
    """Return a server on 127.0.0.1, not yet serving; port 0 takes a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "stub", "object": "model"}]})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._send(*completion(stub, characters, json.loads(body)))

        def _send(self, status: int, told: Any) -> None:
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main(arguments: Sequence[str]) -> None:
    """Serve: PAIR [BUG] [--http PORT]; without --http the lines of the protocol."""
    given = [one for one in arguments if one != "--http"]
    port = int(given.pop()) if "--http" in arguments else None
    pair = read(Path(given[0]))
    stub = Stub(pair, given[1] if len(given) > 1 else "none")
    if port is not None:
        server(stub, pair.shape.characters, port).serve_forever()
    from spec_math.engines.drivers._lines import serve

    def answered(requests: list[dict[str, Any]], lookahead: int) -> list[dict[str, Any]]:
        asked = [Request(tuple(one["prompt"]), one["number"], one["options"], one["seed"]) for one in requests]
        return [asdict(one) for one in stub.ask(asked, lookahead)]

    serve(asdict(stub.about), answered)


if __name__ == "__main__":
    main(sys.argv[1:])
