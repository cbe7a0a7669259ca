"""Advice: exact on tables, within its intervals on recordings, refused where text and rows do not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec_math.block_level import length
from spec_math.block_level.methods import METHODS, Method
from spec_math.language import Table
from spec_math.result import Result
from spec_math.studies.advice import answer
from spec_math.studies.advice.answer import NOTHING, Advice, Candidate
from spec_math.studies.advice.study import AdviceRequest, candidates, exactly, study
from spec_math.studies.arguments import no_progress
from spec_math.studies.blocks.comparison import from_tables
from spec_math.studies.costs import Costs, parsed
from spec_math.studies.lengths.units import chains

TARGET: dict[str, Any] = {
    "context": 1,
    "rows": {
        "": ["1/6", "1/3", "1/2"],
        "0": ["1/8", "5/8", "1/4"],
        "1": ["1/5", "1/5", "3/5"],
        "2": ["3/4", "1/8", "1/8"],
    },
}
DRAFT: dict[str, Any] = {
    "context": 1,
    "rows": {
        "": ["1/3", "1/3", "1/3"],
        "0": ["1/4", "1/2", "1/4"],
        "1": ["2/5", "1/5", "2/5"],
        "2": ["1/2", "1/4", "1/4"],
    },
}
"""Two models of the next token after the last one."""

COSTS = "target=1:20ms,5:22ms,9:30ms; draft=1:1ms,2:1.5ms; verify=0.1ms; drafting=0.3ms"


def records(result: Result) -> list[Any]:
    return result.table("advice").records()


def by_hand(k: int, lookahead: int) -> Fraction:
    """The latency of a block in milliseconds, by COSTS, for at most 8 nodes."""
    size = k * lookahead + 1
    target = 20 + Fraction(size - 1, 2) if size <= 5 else 22 + 2 * (size - 5)
    return target + lookahead * (1 + Fraction(k - 1, 2)) + Fraction(k * lookahead, 10) + Fraction(3, 10)


@pytest.fixture
def tables(tmp_path: Path) -> AdviceRequest:
    for name, model in (("t", TARGET), ("d", DRAFT)):
        assert (tmp_path / f"{name}.json").write_text(json.dumps(model), encoding="utf-8")
    return AdviceRequest(
        str(tmp_path / "t.json"), str(tmp_path / "d.json"), costs=COSTS, ks="1,2", lookahead=2, nodes=4
    )


def generated(method: Method, k: int, lookahead: int) -> Fraction:
    """The expected tokens of a call, by following the method's program along every path."""
    target, draft = _table(TARGET), _table(DRAFT)
    return length.expected(lambda coin, prefix: method.generate(coin, target, draft, prefix, lookahead, k), ())


def _table(model: dict[str, Any]) -> Table:
    rows = {tuple(map(int, prefix.split())): row for prefix, row in model["rows"].items()}
    return Table(rows, context=model["context"])


def test_on_tables_the_advice_is_the_exact_optimum_over_all_candidates(tables: AdviceRequest) -> None:
    speeds = {
        (method.name, k, size): generated(method, k, size) * 20 / by_hand(k, size)
        for method in METHODS
        for k in (1, 2)
        for size in (1, 2)
        if (k == 1) is method.one_chain
    }
    (name, k, size), most = max(speeds.items(), key=lambda pair: pair[1])
    result = study(tables, no_progress)
    first = records(result)[0]
    assert (first["method"], first["K×L"], first["exact speed-up"]) == (name, f"{k}×{size}", most)
    best_of = {method: max(s for (own, _, _), s in speeds.items() if own == method) for method, _, _ in speeds}
    shown = {answer.SHORT[method]: method.name for method in METHODS if method in answer.SHORT}
    found = {shown.get(row["method"], row["method"]): row["exact speed-up"] for row in records(result)}
    assert found == {**best_of, answer.SHORT[None]: 1}
    assert result.finding.startswith(
        f"Take {name} with {chains(METHODS[0], k, size).shape}: {float(most):.2f} times faster"
    )


def test_costs_at_which_nothing_pays_advise_plain_decoding(tables: AdviceRequest) -> None:
    found = study(replace(tables, costs="target=20ms; draft=90ms"), no_progress)
    assert found.finding == "Draft nothing: plain decoding is fastest at these latencies."
    assert records(found)[0]["exact speed-up"] == 1


def scaled(costs: Costs, call: str, factor: Fraction) -> Costs:
    points = tuple(point._replace(mean=factor * point.mean) for point in costs.calls[call])
    return replace(costs, calls={**costs.calls, call: points})


def test_break_even_costs_are_where_the_advice_changes(tables: AdviceRequest) -> None:
    """The latency of each call just below and above its break-even factor, all else as it was."""
    costs = parsed(COSTS)
    models = from_tables(Path(str(tables.target)), Path(str(tables.draft)))
    wanted, _ = candidates(tables, costs, every=True)
    found = exactly(models, wanted, no_progress)
    best = answer.fastest_of_each(found, costs)[0]
    changes = answer.break_evens(best, found, costs)
    assert {one.call for one in changes} >= {"draft", "verify"}
    for one in changes:
        step = Fraction(1, 1000) if one.factor > 1 else Fraction(-1, 1000)
        nearer, further = (
            answer.fastest_of_each(found, scaled(costs, one.call, one.factor * (1 + side * step)))[0]
            for side in (-1, 1)
        )
        if one.then is NOTHING:
            assert (nearer is NOTHING, further is NOTHING) == (False, True)
        else:
            assert (nearer, further.speed(scaled(costs, one.call, one.factor))) == (
                best,
                best.speed(scaled(costs, one.call, one.factor)),
            )
    said = answer.changes_said(best, changes, costs)
    assert "take plain decoding" in said
    assert "a draft step above" in said


def chain_of(model: dict[str, Any]) -> Any:
    return np.array([[float(Fraction(mass)) for mass in model["rows"][name]] for name in ("", "0", "1", "2")])


def write_recording(folder: Path, lengths: list[int], seed: int, writer: dict[str, Any] = TARGET) -> AdviceRequest:
    """Documents that a model writes token by token, with both models' rows."""
    rng, target, draft, author = np.random.default_rng(seed), chain_of(TARGET), chain_of(DRAFT), chain_of(writer)
    tokens, states = list[int](), list[int]()
    for size in lengths:
        state = 0
        for _ in range(size):
            states.append(state)
            tokens.append(int(rng.choice(3, p=author[state])))
            state = tokens[-1] + 1
    for name, rows in (("t", target[states]), ("d", draft[states]), ("x", np.array(tokens))):
        np.save(folder / f"{name}.npy", rows)
    target_file, draft_file, text = (str(folder / f"{name}.npy") for name in "tdx")
    documents = ",".join(map(str, lengths))
    return AdviceRequest(target_file, draft_file, text, documents, costs=COSTS, ks="1,2", lookahead=3, nodes=6)


def in_a_row(method: Method, k: int, lookahead: int) -> float:
    """Tokens of a call where rounds follow each other: the mean over the stationary last token of a round."""
    target, draft = _table(TARGET), _table(DRAFT)
    moves, tokens = np.zeros((3, 3)), np.zeros(3)
    for state in range(3):
        emitted = length.law(lambda coin, prefix: method.generate(coin, target, draft, prefix, lookahead, k), (state,))
        for path, mass in emitted.items():
            moves[state, path[-1]] += float(mass)
            tokens[state] += len(path) * float(mass)
    values, vectors = np.linalg.eig(moves.T)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    return float(stationary @ tokens / stationary.sum())


def test_a_recording_leads_to_the_exact_values_within_its_intervals(tmp_path: Path) -> None:
    lengths = [*range(200, 1100, 100), 950, 330, 1470]
    methods = ("token by token", "as a block", "recursive rejection", "greedy")
    result = study(replace(write_recording(tmp_path, lengths, 1), lookahead=2, methods=methods), no_progress)
    rows = {row["method"]: row for row in records(result)}
    chosen = [method for method in METHODS if answer.SHORT.get(method, method.name) in rows]
    assert len(chosen) == 4
    for method in chosen:
        row = rows[answer.SHORT.get(method, method.name)]
        k, size = map(int, str(row["K×L"]).split("×"))
        truth, tokens = in_a_row(method, k, size), row["tokens per call"]
        assert tokens.low <= truth <= tokens.high, (method.name, truth, tokens)
        assert tokens.high - tokens.low < 0.25 * truth
        speed = row["speed-up"]
        assert speed.low <= truth * 20 / float(by_hand(k, size)) <= speed.high
        assert 1 <= tokens.low <= tokens.high <= size + 1
        assert row["share"].high <= 1
    assert f"{sum(lengths):,} tokens in 12 documents" in result.notes[-2].text + result.notes[-1].text + str(
        result.notes
    )


def test_documents_are_told_apart_in_each_form(tmp_path: Path) -> None:
    request = write_recording(tmp_path, [400, 300], 2)
    whole = study(request, no_progress).table("advice")
    np.save(tmp_path / "ids.npy", np.repeat([7, 9], [400, 300]))
    np.savez(tmp_path / "all.npz", **{name: np.load(tmp_path / f"{name}.npy") for name in "tdx"}, lengths=[400, 300])
    target, draft, text, lengths = [f"{tmp_path / 'all.npz'}:{name}" for name in ("t", "d", "x", "lengths")]
    by_ids = replace(request, documents=str(tmp_path / "ids.npy"))
    named = AdviceRequest(target, draft, text, lengths, costs=COSTS, ks="1,2", lookahead=3, nodes=6)
    assert [study(one, no_progress).table("advice") for one in (by_ids, named)] == [whole, whole]
    # The control: as one document, windows reach over the border.
    assert study(replace(request, documents=""), no_progress).table("advice") != whole


def test_text_of_the_draft_is_weighted_to_the_same_values(tmp_path: Path) -> None:
    request = replace(write_recording(tmp_path, [3000], 3, DRAFT), text_of="draft", documents="")
    rows = {row["method"]: row for row in records(study(request, no_progress))}
    # At positions of the draft's text: the mean of the exact values after each token that it wrote.
    method, tokens = METHODS[0], np.load(str(request.tokens))
    row = rows["token-by-token verification"]
    k, size = map(int, str(row["K×L"]).split("×"))
    exact = [float(method.expected(_table(TARGET), _table(DRAFT), (state,), size, k)) for state in range(3)]
    assert (
        abs(row["tokens per call"].value - np.mean([exact[token] for token in tokens]))
        < 4 * row["tokens per call"].error
    )
    assert row["tokens per call"].low is None


def refused(request: AdviceRequest, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _ = study(request, no_progress)


def test_rows_of_another_text_are_refused_with_the_likely_cause(tmp_path: Path) -> None:
    """Each control: the recording itself is taken."""
    request = write_recording(tmp_path, [2000], 4)
    target, draft, tokens = (np.load(tmp_path / f"{name}.npy") for name in "tdx")
    assert study(request, no_progress).finding
    exchanged = replace(request, target=request.draft, draft=request.target)
    refused(exchanged, "the tokens fit the draft's rows better: exchange --target and --draft")

    def saved(name: str, rows: Any) -> str:
        np.save(tmp_path / f"{name}.npy", rows)
        return str(tmp_path / f"{name}.npy")

    # As engines give logits: row p is the distribution of token p + 1.
    shifted = {
        "target": saved("t1", target[1:]),
        "draft": saved("d1", draft[1:]),
        "tokens": saved("x1", tokens[:-1]),
        "documents": "",
    }
    refused(
        replace(request, **shifted), "the tokens fit the row before theirs: .*leave out the first token and last row"
    )
    late = {
        "target": saved("t2", target[:-1]),
        "draft": saved("d2", draft[:-1]),
        "tokens": saved("x2", tokens[1:]),
        "documents": "",
    }
    refused(replace(request, **late), "the tokens fit the row after theirs: .*leave out the last token and first row")
    refused(replace(request, temperature=0.25), "tokens do not fit the rows at their places")
    # With the writer named, the same is weighted.
    assert study(replace(request, temperature=0.9, text_of="temperature=1"), no_progress).finding


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokens": None}, "a recording needs --target, --draft and --tokens. .* spec-math advise --target .*t"),
        ({"tokens": None, "target": "big", "draft": "small"}, "advise --target big --draft small --text prompts.txt"),
        ({"documents": "400"}, "add up to the 1,000 tokens; these 1 add up to 400"),
        ({"documents": "1000,0"}, "lengths must be positive"),
        ({"text_of": "person"}, "record text that a model wrote"),
        ({"text_of": "top_k=1", "documents": "1000"}, "do not fit the rows at their places"),
        ({"methods": ("no such",)}, "no method is named 'no such'"),
        ({"methods": ("traversal",)}, "does not tell what traversal, distinct first tokens accepts; record models"),
        ({"ks": "2", "nodes": 1}, "no drafts are within --k, --nodes, --method and --costs"),
        ({"ks": "8", "nodes": 64}, "a draft step is measured from size 1 to 2, not at 8"),
        ({"lookahead": 65}, "--lookahead takes numbers up to 64"),
        ({"costs": "target=20ms"}, "add draft=LATENCY"),
        ({"filters": ("speed=1",)}, "a filter is one of"),
        ({"temperature": -1.0}, "must be finite and >= 0"),
    ],
)
def test_what_is_wrong_is_named_with_the_cure(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    refused(replace(write_recording(tmp_path, [1000], 5), **change), said)


def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    request = write_recording(tmp_path, [60], 6)
    np.save(tmp_path / "short.npy", np.zeros(50, np.int64))
    refused(replace(request, tokens=str(tmp_path / "short.npy"), documents=""), "60 rows for 50 tokens")
    refused(replace(request, tokens=request.target, documents=""), "one list of whole numbers is needed")
    np.save(tmp_path / "few.npy", np.load(str(request.tokens))[:4])
    few = {name: str(tmp_path / f"few_{name}.npy") for name in ("target", "draft")}
    for name, place in few.items():
        np.save(place, np.load(getattr(request, name))[:4])
    refused(replace(request, **few, tokens=str(tmp_path / "few.npy"), documents=""), "record more text, or lower")
    refused(replace(request, target="t.json"), "belong to recorded logits")


def test_text_that_cannot_be_weighted_is_refused(tmp_path: Path) -> None:
    request = write_recording(tmp_path, [1000], 7)
    rows = np.load(str(request.target))
    never = np.where(rows == rows.min(1, keepdims=True), 0, rows)
    np.save(tmp_path / "w.npy", never / never.sum(1, keepdims=True))
    refused(
        replace(request, text_of=str(tmp_path / "w.npy")), "position .*: (the target draws token|tokens do not fit)"
    )
    # Weights that leave too little: a text of 40 tokens each 20 times as likely under the target.
    refused(replace(request, temperature=0.05, text_of="temperature=1", lookahead=8, nodes=8), "effective sample size")


def test_a_spread_of_the_latencies_widens_the_speed_up_and_names_who_may_win() -> None:
    """Two candidates 1 % apart: within a spread of 10 % of the draft step the longer one may be as fast."""
    method = METHODS[1]
    two = [
        NOTHING,
        *(
            Candidate(method, chains(method, 1, size).shape, answer.known(tokens))
            for size, tokens in ((2, 2.0), (4, 2.18))
        ),
    ]
    sure, unsure = (parsed(f"target=20ms; draft=1ms{spread}") for spread in ("", " ± 0.1ms"))
    results = [answer.result_of(Advice(two), costs) for costs in (sure, unsure)]
    assert ["may be as fast" in " ".join(note.text for note in one.notes) for one in results] == [False, False]
    other = [*two, Candidate(METHODS[0], chains(METHODS[0], 1, 1).shape, answer.known(1.9))]
    wide = answer.result_of(Advice(other), parsed("target=20ms; draft=1ms ± 0.6ms"))
    assert "token-by-token verification with one chain of 1 may be as fast" in " ".join(
        note.text for note in wide.notes
    )
    assert records(wide)[0]["speed-up"].high > records(wide)[0]["speed-up"].value
