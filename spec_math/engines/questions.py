"""Questions to an engine, each an anytime-valid test of its tokens against the exact distribution of its weights.

A token x, drawn from masses t, becomes a number: u = Σ_{y before x} t(y) + v·t(x), where v is uniform and ours, and
"before" is an order that the prefix settles. Under the claim all u are independent and uniform on [0, 1], whatever the
prefixes, options and lengths. Their cells are tested by `sequential.identity_test`, differences and sums (mod 1) of two
of them for dependence.

Source: the randomised probability integral transform (Rosenblatt 1952; Brockwell 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec_math.arrays import Array
from spec_math.engines.exact import next_tokens
from spec_math.engines.options import HISTORY, Text, processed, softmax
from spec_math.engines.pair import Pair
from spec_math.engines.protocol import About, Answer, Request
from spec_math.sequential.contexts import ContextsTest
from spec_math.sequential.identity_test import IdentityTest, identity_test
from spec_math.sequential.tolerant import TolerantTest, tolerant_test

CELLS = 16
"""Cells of equal probability that a token's number falls into; one more, of probability 0, is for impossible tokens."""

ORDERS = ("probability", "ratio", "token")
"""The orders of tokens: by the target's probability, by target over draft, and by index."""

REPEATS = 0.25
"""The share of texts that may differ when a seed is used again: rounding may differ from call to call."""

PRINTED = 1e-3
"""Allowance for a returned log-probability on top of rounding, in nats: servers print few digits."""


@dataclass(frozen=True)
class Case:
    """A way of asking: options, the lookahead (0 without speculation, None as started), tokens a text, batch, seeds.

    >>> Case("no options").name
    'no options'
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lookahead: int | None = 3
    number: int = 12
    batch: int = 4
    seeded: bool = True
    samples: int = 1000
    repeat: bool = False
    prompt: Text | None = None


@dataclass(frozen=True)
class Failure:
    """A question that was answered with no: its name, the group of tokens, a sentence, and the tokens seen by then."""

    question: str
    group: str
    said: str
    tokens: int


def groups_of_positions(number: int) -> list[tuple[str, range]]:
    """Return the positions of a text in groups: 0 to 3 each, then 4–7, 8–15, and so on.

    >>> [name for name, _ in groups_of_positions(12)]
    ['0', '1', '2', '3', '4-7', '8-11']
    """
    found = [(str(j), range(j, j + 1)) for j in range(min(number, 4))]
    start = 4
    while start < number:
        end = min(2 * start, number)
        found.append((f"{start}-{end - 1}" if end - start > 1 else str(start), range(start, end)))
        start = end
    return found


ROUNDS = ("0 accepted", "1 accepted", "2 or more accepted", "2 or more, then 0 accepted")
"""First tokens of a round, by the accepted drafts of the round or rounds before: settled before they are drawn."""

Test = IdentityTest | ContextsTest | TolerantTest
Key = tuple[str, str]
Asked = Sequence[tuple[int, int]]
"""The call that each text was asked in, and its place there."""


def plan(case: Case) -> list[Key]:
    """Return the tests that a case needs, by question and group; their number is settled before the first token.

    >>> len(plan(Case("no options"))), plan(Case("plain", lookahead=0, number=1, batch=1))[:2]
    (36, [('distribution', 'by probability'), ('distribution', 'by token')])
    """
    two = ["probability", "ratio"] if case.lookahead != 0 else ["probability", "token"]
    orders = sorted({*two, "token"}, key=ORDERS.index)
    found = [("distribution", f"by {order}") for order in orders]
    found += [("position", f"{name} by {order}") for name, _ in groups_of_positions(case.number) for order in two]
    if case.batch > 1:
        found += [("place in the batch", str(place)) for place in range(case.batch)]
        found += [("independence of requests in a batch", kind) for kind in PAIRED]
    if case.number > 1:
        found += [("independence of tokens in a text", kind) for kind in PAIRED]
    found += [("independence of successive calls", kind) for kind in PAIRED]
    if case.lookahead != 0:
        found += [("first token of a round", f"{name} by {order}") for name in ROUNDS for order in two]
        found += [("bonus token", f"by {order}") for order in two]
        found += [("known bugs", "")]
    if case.options:
        found += [("distribution", "against no options")]
        found += [("options ignored", kind) for kind in ("", "by probability")]
        found += [("distribution", LATE)] * bool(HISTORY & set(case.options))
    if case.prompt is not None:
        found += [("one context", name) for name in CONTEXTS]
    return found + ([("one seed, one text", "")] if case.repeat else [])


LATE = "against options that miss the latest token"
PAIRED = ("difference", "sum")
CONTEXTS = ("first token", "after the likeliest", "after the second likeliest")
"""Contexts that one prompt meets many times: the tests learn their distribution, and know all bugs of the bank."""


def test_of(key: Key, alpha: float) -> Test:
    """Return the running test of a question, at a level of its own.

    >>> test_of(("distribution", "by token"), 0.01).alpha
    0.01
    """
    if key[0] == "known bugs" or key == ("options ignored", "") or key[1] in (LATE, "against no options"):
        return ContextsTest(alpha)
    if key[0] == "one seed, one text":
        return tolerant_test([0.999, 0.001], alpha, REPEATS)
    return IdentityTest([1 / CELLS] * CELLS + [0.0], alpha, {})


def numbers_of(masses: Array, keys: Array, tokens: Array, uniforms: Array) -> Array:
    """Return the number u in [0, 1] of each token [n]: uniform where token i is drawn from masses[i] [n, V].

    Tokens stand in the order of `keys` [n, V], ties by index. A token of mass 0 gets 2.

    >>> numbers_of(np.array([[0.25, 0.75]]), np.array([[2.0, 1.0]]), np.array([0]), np.array([0.5])).tolist()
    [0.875]
    """
    rows, every = np.arange(len(tokens)), np.arange(masses.shape[1])
    own = keys[rows, tokens][:, None]
    before = (keys < own) | ((keys == own) & (every < tokens[:, None]))
    mass = masses[rows, tokens]
    u = np.minimum((masses * before).sum(axis=1) + uniforms * mass, np.nextafter(1, 0))
    return np.where(mass > 0, u, 2.0)


def cells_of(numbers: Array) -> Array:
    """Return the cell of each number [n]; `CELLS` is the cell of what cannot be.

    >>> cells_of(np.array([0.0, 0.99, 2.0])).tolist()
    [0, 15, 16]
    """
    return np.where(numbers > 1, CELLS, np.floor(numbers * CELLS)).astype(np.int64)


def contexts_of(pair: Pair, case: Case, alpha: float, order: Sequence[str] = ()) -> dict[Text, IdentityTest]:
    """Return a test for each of `CONTEXTS`, by what was emitted before: the exact distribution [V] and the bug bank."""
    prompt = case.prompt or ()
    firsts = np.argsort(-next_tokens(pair.target, [prompt], [()], case.options, order)[0], kind="stable").tolist()
    going = [token for token in firsts if token != pair.target.end]
    found: dict[Text, IdentityTest] = {}
    for text in ((), (going[0],), (going[1],)):
        t, d = (next_tokens(model, [prompt], [text], case.options, order)[0] for model in (pair.target, pair.draft))
        shared = {"the residual is drawn with the draft's random number": shared_number(t, d)}
        found[text] = identity_test(t, alpha, d, shared)
    return found


def shared_number(target: Array, draft: Array) -> Array:
    """Return the distribution [V] emitted where one uniform draws draft and residual, both by inverse CDF.

    The law: min(t, d) + Σ_x (d − t)+(x)·|I_d(x) ∩ I_r(y)|/d(x), where I_d(x) and I_r(y) are the intervals of two tokens
    in the CDFs of the draft and of the residual. Source: FlashInfer's pull request 424.

    >>> shared_number(np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.75, 0.0])).round(4).tolist()
    [0.4167, 0.25, 0.3333]
    """
    residual = np.maximum(target - draft, 0)
    if not residual.sum():
        return target.copy()
    ends = [np.concatenate([[0.0], np.cumsum(law) / law.sum()]) for law in (draft, residual)]
    low = np.maximum(ends[0][:-1, None], ends[1][None, :-1])
    high = np.minimum(ends[0][1:, None], ends[1][None, 1:])
    rejected = np.divide(np.maximum(draft - target, 0), draft, out=np.zeros(len(draft)), where=draft > 0)
    return np.minimum(target, draft) + rejected @ np.maximum(high - low, 0)


class CaseRun:
    """The tests of one case while texts come in; `rng` gives the uniforms of the transform.

    `for_ignored` is the log of how much likelier the tokens are where the options are ignored. `tokens` counts all that
    were asked for and judged, `left_out` those whose options came within the engine's own rounding of another decision.
    `drafted`, `accepted`, `rejected` and `rounds` count drafts and rounds, where told; `first` is the first call.

    Made by `study.audit_engine`.
    """

    def __init__(self, case: Case, pair: Pair, alpha: float, about: About, rng: np.random.Generator) -> None:
        self.case, self._pair, self._rng, self._about = case, pair, rng, about
        self.tests: dict[Key, Test] = {key: test_of(key, alpha) for key in plan(case) if key[0] != "one context"}
        self._contexts: dict[Text, IdentityTest] = {}
        if case.prompt is not None:
            self._contexts = contexts_of(pair, case, alpha, about.order)
            named = zip(CONTEXTS, self._contexts.values(), strict=True)
            self.tests |= {("one context", name): test for name, test in named}
        self.texts = self.tokens = self.left_out = 0
        self.accepted = self.rounds = self.drafted = self.rejected = 0
        self.for_ignored = 0.0
        self.refused: str | None = None
        self.failures: list[Failure] = []
        self.first: tuple[Sequence[Request], Sequence[Answer]] | None = None
        self.logprobs = {"raw": 0, "processed": 0, "draft": 0, "told": 0}
        self._before: dict[int, Array] = {}

    def take(self, calls: Sequence[tuple[Sequence[Request], Sequence[Answer]]]) -> None:
        """Take in whole calls, in the order in which they were made."""
        asked = [(call, place) for call, (requests, _) in enumerate(calls) for place in range(len(requests))]
        requests = [calls[call][0][place] for call, place in asked]
        answers = [calls[call][1][place] for call, place in asked]
        refused = next((one.refused for one in answers if one.refused is not None), None)
        failed = next((one.failed for one in answers if one.failed is not None), None)
        if failed is not None:
            self._fail("answer", "", f"the engine fails: {failed}", self.tokens)
        if refused is not None or failed is not None:
            self.refused = refused or failed
            return
        self.first = self.first or calls[0]
        before = self.tokens
        texts = [self._whole(request, answer) for request, answer in zip(requests, answers, strict=True)]
        self.texts += len(texts)
        self.tokens += sum(map(len, texts))
        if any(texts):
            self._judge([request.prompt for request in requests], texts, answers, asked)
        self._note(before)

    def repeated(self, first: Sequence[Answer], again: Sequence[Answer]) -> None:
        """Take in the answers to the same requests with the same seeds."""
        self.tokens += sum(len(one.tokens) for one in again)
        differ = [int(one.tokens != other.tokens) for one, other in zip(first, again, strict=True)]
        self.tests["one seed, one text", ""].update_many(differ)  # type: ignore[call-arg]
        self._note(self.tokens)

    @property
    def wrong(self) -> list[Failure]:
        """The failures of the text itself; returned log-probabilities may be wrong where it is right."""
        return [failure for failure in self.failures if failure.question != "log-probabilities"]

    @property
    def done(self) -> bool:
        """True where no more texts are needed: enough were seen, it is refused, or it failed at half of them."""
        found = [failure.tokens for failure in self.wrong if failure.question != "one seed, one text"]
        return self.refused is not None or self.tokens >= min([self.case.samples, *(2 * tokens for tokens in found)])

    def _whole(self, request: Request, answer: Answer) -> Text:
        """Return a text up to its end token; what follows one, or a text that stops without one, is a failure."""
        end, text = self._pair.target.end, answer.tokens
        if end in text[:-1]:
            text = text[: text.index(end) + 1]
            said = f"the text goes on after its end token at position {len(text) - 1}"
            self._fail("end of the text", f"position {len(text) - 1}", said, self.tokens + len(text))
        elif len(text) < request.number and (not text or text[-1] != end):
            said = f"a text stops after {len(text)} of {request.number} tokens without an end token"
            self._fail("end of the text", f"position {len(text)}", said, self.tokens + len(text))
        return text

    def _fail(self, question: str, group: str, said: str, tokens: int) -> None:
        if all(failure.question != question or failure.group != group for failure in self.failures):
            self.failures.append(Failure(question, group, said, tokens))

    def _judge(self, prompts: Sequence[Text], texts: Sequence[Text], answers: Sequence[Answer], asked: Asked) -> None:
        """Judge every token of some texts."""
        target, draft, options = self._pair.target, self._pair.draft, self.case.options
        where = [(i, j) for i, text in enumerate(texts) for j in range(len(text))]
        tokens = np.array([texts[i][j] for i, j in where])
        heads, starts = [prompts[i] for i, _ in where], [texts[i][:j] for i, j in where]
        logits = np.concatenate(target.rows(prompts, texts))
        order = self._about.order
        exact = processed(logits, options, heads, starts, target.end, order)
        masses, speculative = exact.masses, self.case.lookahead != 0
        drafted = masses
        if speculative or any(answer.logprobs for answer in answers):
            rows = np.concatenate(draft.rows(prompts, texts))
            drafted = processed(rows, options, heads, starts, draft.end, order).masses
        kept = np.isfinite(masses).all(axis=1) & (exact.margins > self._allowed)
        self.left_out += int((~kept).sum())
        uniforms = self._rng.random(len(tokens))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(drafted > 0, masses / drafted, np.inf)
        keys = {"probability": -masses, "ratio": ratio, "token": np.broadcast_to(np.arange(target.size), masses.shape)}
        numbers = {name: numbers_of(masses, key, tokens, uniforms) for name, key in keys.items()}
        where_of = np.array(where)
        self._distributions(numbers, where_of, kept, answers, asked)
        self._pairs(numbers["token"], where_of, kept, asked)
        if speculative:
            usable = kept & np.isfinite(drafted).all(axis=1)
            self._identity("known bugs", "").take(tokens[usable], masses[usable], drafted[usable])
        if options:
            plain = softmax(logits)
            self._identity("options ignored", "").take(tokens[kept], plain[kept], masses[kept])
            ranks = cells_of(numbers_of(plain, -plain, tokens, uniforms))
            self._update("options ignored", "by probability", ranks[kept])
            self._identity("distribution", "against no options").take(tokens[kept], masses[kept], plain[kept])
            with np.errstate(divide="ignore"):
                drawn = np.flatnonzero(kept), tokens[kept]
                self.for_ignored += float((np.log(plain[drawn]) - np.log(masses[drawn])).sum())
        if ("distribution", LATE) in self.tests:
            late = processed(logits, options, heads, [text[:-1] for text in starts], target.end, order).masses
            usable = kept & np.isfinite(late).all(axis=1)
            self._identity("distribution", LATE).take(tokens[usable], masses[usable], late[usable])
        for text, test in self._contexts.items():
            at = [n for n, (i, j) in enumerate(where) if j == len(text) and texts[i][:j] == text]
            test.update_many(tokens[at])
        self._logprobs(answers, tokens, (softmax(logits), masses, drafted), kept)

    @property
    def _allowed(self) -> float:
        """The rounding of the engine's own logits after the options, in nats: two logits are compared."""
        options = self.case.options
        penalty = float(options.get("repetition_penalty", 1.0))
        scale = max(penalty, 1 / penalty) / min(1.0, float(options.get("temperature") or 1))
        return 2 * scale * self._pair.target.rounding

    def _identity(self, question: str, group: str) -> Any:
        return self.tests[question, group]

    def _update(self, question: str, group: str, cells: Array) -> None:
        if len(cells) and (question, group) in self.tests:
            self._identity(question, group).update_many(cells)

    def _distributions(
        self, numbers: Mapping[str, Array], where: Array, kept: Array, answers: Sequence[Answer], asked: Asked
    ) -> None:
        places = np.array([asked[i][1] for i in where[:, 0]])
        rounds = self.rounds_of(where, answers)
        for order, found in numbers.items():
            cells = cells_of(found)
            self._update("distribution", f"by {order}", cells[kept])
            for name, among in groups_of_positions(self.case.number):
                here = kept & (where[:, 1] >= among.start) & (where[:, 1] < among.stop)
                self._update("position", f"{name} by {order}", cells[here])
            for place, name in enumerate(ROUNDS):
                self._update("first token of a round", f"{name} by {order}", cells[kept & rounds[place]])
            self._update("bonus token", f"by {order}", cells[kept & rounds[-1]])
        cells = cells_of(numbers["ratio" if self.case.lookahead != 0 else "token"])
        for place in range(self.case.batch):
            self._update("place in the batch", str(place), cells[kept & (places == place)])

    def rounds_of(self, where: Array, answers: Sequence[Answer]) -> Array:
        """Return which tokens [5, n] are the first of a round after each of `ROUNDS`, or follow a whole accepted block.

        Neither depends on the token itself: it is drawn from the target's row once all before it is settled.
        """
        found = np.zeros((len(ROUNDS) + 1, len(where)), dtype=bool)
        starts = np.flatnonzero(where[:, 1] == 0)
        of_text = dict(zip(where[starts, 0].tolist(), starts.tolist(), strict=True))
        for i, answer in enumerate(answers):
            if answer.counts is not None:
                self.drafted += answer.counts[0]
                self.accepted += answer.counts[1]
                self.rejected += answer.counts[0] - answer.counts[1]
            if not answer.accepted or i not in of_text:
                continue
            self.accepted += sum(answer.accepted)
            self.rounds += len(answer.accepted)
            at, longest = 0, int((where[:, 0] == i).sum())
            for number, accepted in enumerate(answer.accepted):
                if accepted == self.case.lookahead and at + accepted < longest:
                    found[-1, of_text[i] + at + accepted] = True
                # The last token of a text may follow fewer drafts than the lookahead, all of them accepted.
                short = self.case.lookahead is None or accepted < self.case.lookahead
                self.rejected += short and at + accepted < longest - (accepted > 0)
                at += accepted + 1
                if at >= longest:
                    break
                found[min(accepted, 2), of_text[i] + at] = True
                if accepted == 0 and number and answer.accepted[number - 1] >= 2:
                    found[3, of_text[i] + at] = True
        return found

    def _pairs(self, numbers: Array, where: Array, kept: Array, asked: Asked) -> None:
        """Test two numbers that should be independent: in a text, at two places of a batch, in successive calls."""
        longest = int(where[:, 1].max()) + 1
        table = np.full((len(asked), longest), np.nan)
        table[where[:, 0], where[:, 1]] = np.where(kept & (numbers <= 1), numbers, np.nan)
        self._dependence("independence of tokens in a text", table[:, 0:-1:2], table[:, 1::2])
        calls = [[i for i, (call, _) in enumerate(asked) if call == one] for one in range(asked[-1][0] + 1)]
        for own in calls:
            rows = table[own]
            self._dependence("independence of requests in a batch", rows[0:-1:2], rows[1::2])
        for one, other in zip(calls[0::2], calls[1::2], strict=False):
            self._dependence("independence of successive calls", table[one], table[other])

    def _dependence(self, question: str, first: Array, second: Array) -> None:
        wide = min(len(first), len(second)), min(first.shape[-1], second.shape[-1])
        one, other = (part[: wide[0], : wide[1]].ravel() for part in (first, second))
        both = np.isfinite(one) & np.isfinite(other)
        for kind, mixed in (("difference", other - one), ("sum", other + one)):
            self._update(question, kind, cells_of(np.mod(mixed[both], 1.0)))

    def _logprobs(self, answers: Sequence[Answer], tokens: Array, laws: tuple[Array, ...], kept: Array) -> None:
        """Compare returned log-probabilities with those of the raw logits, after the options, and of the draft."""
        told = [lp for answer in answers for lp in (answer.logprobs or [np.nan] * len(answer.tokens))]
        if len(told) != len(tokens):  # what follows an end token was cut off
            return
        rows, returned = np.arange(len(tokens)), np.array(told)
        here = ~np.isnan(returned) & kept & (laws[1][rows, tokens] > 1e-6) & (laws[0][rows, tokens] > 1e-6)
        self.logprobs["told"] += int(here.sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            for name, law in zip(("raw", "processed", "draft"), laws, strict=True):
                off = np.abs(returned - np.log(law[rows, tokens])) > self._allowed + PRINTED
                self.logprobs[name] += int((off & here).sum())
        wrong = {name: self.logprobs[name] for name in ("raw", "processed")}
        claimed = {name: n for name, n in wrong.items() if self._about.logprobs in (name, "either")}
        if claimed and min(claimed.values()) > 0:
            what = "; they are the draft's" if self.logprobs["draft"] == 0 else ""
            said = f"{min(claimed.values())} of {self.logprobs['told']} log-probabilities are not the target's{what}"
            self._fail("log-probabilities", "", said, self.tokens)

    def _note(self, before: int) -> None:
        """Note the tests that have alarmed."""
        for (question, group), test in self.tests.items():
            if test.alarm is not None and question != "options ignored":
                said = "" if question == "distribution" else f"{question} {group}: "
                self._fail(question, group, f"{said}{test.refuted().reason}", max(before, self.tokens))
