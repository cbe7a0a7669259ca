"""The judge of certificates: accepts what solve returns, sees every change, and never raises."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofs_tests.token_level.draft_laws import KINDS, problems, values_of_cuts
from spec_math import exact
from spec_math.coupling import joint
from spec_math.token_level import draft_law, k_sequential, transport
from spec_math.token_level.certificate import Certificate, load

TINY = st.sampled_from([Fraction(1, 2**60), Fraction(1, 10**9), Fraction(1, 7)])


@st.composite
def claims(draw):
    return transport.solve(*draw(problems(draw(st.sampled_from(KINDS)), largest=4)))


def bernoulli():
    """SpecTr's example Ber(1/4) → Ber(6/10) with two drafts: the optimum is 67/80."""
    return exact(["4/10", "6/10"]), exact(["3/4", "1/4"])


@given(claims(), st.data(), TINY)
def test_one_changed_mass_is_rejected(claim, data, change):
    cell = data.draw(st.sampled_from(sorted(claim.coupling, key=str)))
    for sign in (1, -1):
        assert not replace(claim, coupling={**claim.coupling, cell: claim.coupling[cell] + sign * change}).check()
    assert not replace(claim, coupling={key: mass for key, mass in claim.coupling.items() if key != cell}).check()


@given(claims(), st.data(), TINY)
def test_mass_moved_from_one_cell_to_another_is_rejected(claim, data, change):
    size = len(claim.target)
    giver = data.draw(st.sampled_from(sorted(claim.coupling, key=str)))
    taker = data.draw(st.sampled_from(sorted(claim.draft_law, key=str))), data.draw(st.integers(0, size - 1))
    assume(giver != taker)
    moved = dict(claim.coupling)
    moved[giver] -= change
    moved[taker] = moved.get(taker, Fraction(0)) + change
    assert not replace(claim, coupling=moved).check()


@given(claims(), st.data(), TINY)
def test_one_changed_marginal_is_rejected(claim, data, change):
    token = data.draw(st.integers(0, len(claim.target) - 1))
    masses = list(claim.target)
    masses[token] += change
    assert not replace(claim, target=tuple(masses)).check()
    tokens = data.draw(st.sampled_from(sorted(claim.draft_law, key=str)))
    law = {**claim.draft_law, tokens: claim.draft_law[tokens] - change}
    assert not replace(claim, draft_law=law).check()
    assert not replace(claim, draft_law={x: mass for x, mass in claim.draft_law.items() if x != tokens}).check()


@given(claims(), TINY)
def test_changed_acceptance_is_rejected(claim, change):
    assert not replace(claim, acceptance=claim.acceptance + change).check()
    assert not replace(claim, acceptance=claim.acceptance - change).check()
    assert not replace(claim, acceptance=float(claim.acceptance)).check()


@given(claims(), st.data())
def test_one_changed_subset_element_is_rejected_unless_it_proves_as_much(claim, data):
    token = data.draw(st.integers(0, len(claim.target) - 1))
    subset = claim.subset ^ {token}
    cut = values_of_cuts(exact(list(claim.target)), claim.draft_law)[subset]
    assert replace(claim, subset=subset).check() == (cut == claim.acceptance)
    assert not replace(claim, subset=claim.subset | {len(claim.target)}).check()


def test_changed_subset_is_rejected_where_the_cut_is_unique():
    target, draft = bernoulli()
    claim = transport.solve(target, draft_law.iid(draft, 2))
    assert claim.subset == {0}
    for subset in ({1}, {0, 1}, set()):
        fault = replace(claim, subset=frozenset(subset)).fault()
        assert fault is not None
        assert "unproven" in fault


def test_suboptimal_coupling_is_rejected_however_it_is_claimed():
    """Control, and SpecTr's erratum d: K-SEQ is not optimal for Ber(1/4) → Ber(6/10)."""
    target, draft = bernoulli()
    claim = transport.solve(target, draft_law.iid(draft, 2))
    assert claim.acceptance == Fraction(67, 80)
    masses = {}
    walked = joint(
        lambda coin: k_sequential.draw(coin, draft, 2),
        lambda coin, tokens: k_sequential.emit(coin, tokens, target, draft),
    )
    for (tokens, emission), mass in walked.masses.items():
        masses[tokens, emission.token] = masses.get((tokens, emission.token), Fraction(0)) + mass
    reached = walked.acceptance()
    assert Fraction(769917, 10**6) < reached < Fraction(769918, 10**6)
    assert "not 67/80" in str(replace(claim, coupling=masses).fault())
    for subset in (set(), {0}, {1}, {0, 1}):
        humble = replace(claim, coupling=masses, acceptance=reached, subset=frozenset(subset))
        assert "unproven" in str(humble.fault())


def test_claim_is_held_against_the_users_own_laws():
    target, draft = bernoulli()
    law = draft_law.iid(draft, 2)
    claim = transport.solve(target, law)
    assert claim.check(target, law)
    assert claim.check(["2/5", "3/5"], {x: str(mass) for x, mass in law.items()})
    assert claim.check(draft_law=draft_law.sets(law))
    assert transport.solve(target, draft_law.sets(law)).check(target, law)
    # Controls: a true claim about other laws, and laws that are not probability distributions.
    assert not claim.check(draft)
    assert not claim.check(["2/5", "3/5", 0])
    assert not claim.check(target, draft_law.iid(target, 2))
    assert not claim.check(target, draft_law.iid(draft, 1))
    assert not claim.check("nonsense")
    assert not claim.check(target, {(0,): "1/2"})
    assert not claim.check(target, 7)


@pytest.mark.parametrize(
    "changes",
    [
        {"target": None},
        {"target": ()},
        {"target": (0.5, 0.5)},
        {"target": (Fraction(2), Fraction(-1))},
        {"target": exact(["2/5", "3/5"])[None]},
        {"draft_law": None},
        {"draft_law": {}},
        {"draft_law": {7: Fraction(1)}},
        {"draft_law": {(9, 9): Fraction(1)}},
        {"acceptance": None},
        {"acceptance": float("nan")},
        {"acceptance": "67/80"},
        {"coupling": None},
        {"coupling": {}},
        {"coupling": {0: Fraction(1)}},
        {"coupling": {((0, 0), 0.5): Fraction(1)}},
        {"coupling": {((0, 0), -1): Fraction(1)}},
        {"coupling": {((0, 0), 0): float("nan")}},
        {"coupling": {(None, None): Fraction(1)}},
        {"subset": None},
        {"subset": [0]},
        {"subset": frozenset({"0"})},
        {"subset": frozenset({-2})},
        {"subset": 0},
    ],
    ids=str,
)
def test_judge_never_raises(changes):
    target, draft = bernoulli()
    claim = transport.solve(target, draft_law.iid(draft, 2))
    broken = replace(claim, **changes)
    assert broken.check() is False
    assert isinstance(broken.fault(), str)


HALF, ONE, NONE = Fraction(1, 2), Fraction(1), frozenset()


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        pytest.param(
            # Every sum fits but one: 3/8 − 1/8 and the like would accept all of an optimum of 3/4.
            Certificate(
                (Fraction(1, 4), Fraction(3, 4)),
                {(0,): HALF, (1,): HALF},
                ONE,
                {
                    ((0,), 0): Fraction(3, 8),
                    ((0,), 1): Fraction(1, 8),
                    ((1,), 0): Fraction(-1, 8),
                    ((1,), 1): Fraction(5, 8),
                },
                NONE,
            ),
            "negative",
            id="negative mass",
        ),
        pytest.param(
            Certificate((HALF, 0.5), {(0,): ONE}, HALF, {((0,), 0): HALF, ((0,), 1): HALF}, frozenset({0})),  # pyright: ignore[reportArgumentType]
            "^every number must be a Fraction$",
            id="a float",
        ),
        pytest.param(
            Certificate((2 * ONE, 0 * ONE), {(0,): ONE, (1,): ONE}, ONE, {((0,), 0): ONE, ((1,), 0): ONE}, NONE),
            "sum to 2, not 1",
            id="masses of 2 in all",
        ),
        pytest.param(
            Certificate((ONE, 0 * ONE), {(-1,): ONE}, 0 * ONE, {((-1,), 0): ONE}, frozenset({-1})),
            r"outside 0\.\.1",
            id="a draft counted from the end",
        ),
        pytest.param(
            Certificate((0 * ONE, ONE), {(0,): ONE}, 0 * ONE, {((0,), -1): ONE}, frozenset({0})),
            "no outcome",
            id="an emitted token counted from the end",
        ),
        pytest.param(
            Certificate((HALF, HALF), {(0,): ONE}, HALF, {((0,), 0): HALF, ((1,), 1): HALF}, frozenset({0})),
            "no outcome",
            id="drafts outside the law",
        ),
    ],
)
def test_each_condition_of_the_judge_is_needed(claim, words):
    """Controls: claims that meet every condition but one."""
    fault = claim.fault()
    assert fault is not None
    assert re.search(words, fault)
    assert not claim.check()


def test_changing_the_certificate_in_place_is_seen():
    target, draft = bernoulli()
    claim = transport.solve(target, draft_law.iid(draft, 2))
    claim.coupling[(0, 1), 0] = claim.coupling.get(((0, 1), 0), Fraction(0)) + Fraction(1, 100)
    assert not claim.check()


@given(claim=claims())
@settings(max_examples=40)
def test_saved_certificate_is_the_same_when_loaded(claim, tmp_path_factory):
    path = tmp_path_factory.mktemp("certificates") / "claim.json"
    claim.save(path)
    assert load(path) == claim
    assert load(path).check(claim.target, claim.draft_law)
    assert [entry.name for entry in path.parent.iterdir()] == ["claim.json"]


def test_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target, draft = bernoulli()
    claim = transport.solve(target, draft_law.iid(draft, 2))
    path = tmp_path / "claim.json"
    claim.save(path)

    def refuse(*_):
        raise OSError("no space left")

    monkeypatch.setattr("spec_math.files.whole.os.fsync", refuse)
    with pytest.raises(OSError, match="no space left"):
        transport.solve(target, draft_law.iid(draft, 1)).save(path)
    assert load(path) == claim
    assert [entry.name for entry in tmp_path.iterdir()] == ["claim.json"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"acceptance"', '"accepted"', "exactly the entries"),
        ("certificate, version 1", "certificate, version 2", '"format" must be'),
        ('"tuples"', '"lists"', '"drafts" "tuples" or "sets"'),
        ('"67/80"', "0.8375", r'such as "3/16"; got 0\.8375'),
        ('"67/80"', '"67/0"', 'such as "3/16"'),
        ('"67/80"', '" 67/80"', 'such as "3/16"'),
        ('"67/80"', '"1e9999999"', 'such as "3/16"'),
        ('"67/80"', "NaN", "must be finite; the file has NaN"),
        ('"subset": [\n  0\n ]', '"subset": 0', '"tokens" must be a list'),
        ('"subset": [\n  0\n ]', '"subset": [true]', "a token must be a whole number; got True"),
        ('"drafts": "tuples",', '"drafts": "tuples", "drafts": "tuples",', "occurs twice"),
        ("{", "", "holds no certificate"),
        ('"draft_law": [', '"draft_law": [ [[0, 0], "1/2"],', "twice"),
        ('"draft_law": [', '"draft_law": [ 3,', '"draft_law" must be a list'),
        ('"draft_law": [', '"draft_law": [ [[0, 0]],', "must have 2 entries; one has 1"),
        ('"coupling": [', '"coupling": [ 3,', '"coupling" must be a list'),
        ('"target": [\n  "2/5",\n  "3/5"\n ]', '"target": 3', '"target" must be a list'),
    ],
)
def test_broken_file_is_refused_with_its_name_and_the_reason(old, new, words, tmp_path):
    target, draft = bernoulli()
    path = tmp_path / "claim.json"
    transport.solve(target, draft_law.iid(draft, 2)).save(path)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=words) as caught:
        load(path)
    assert "claim.json holds no certificate" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe", b"null", b"[" * 100_000])
def test_file_that_is_no_certificate_is_refused(content, tmp_path):
    path = tmp_path / "claim.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="holds no certificate"):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.json")


def test_tampered_file_loads_as_claimed_and_is_rejected(tmp_path):
    target, draft = bernoulli()
    path = tmp_path / "claim.json"
    transport.solve(target, draft_law.iid(draft, 2)).save(path)
    path.write_text(path.read_text(encoding="utf-8").replace("67/80", "68/80"), encoding="utf-8")
    claim = load(path)
    assert isinstance(claim, Certificate)
    assert not claim.check()


def test_a_claim_about_other_laws_says_which():
    target, draft = bernoulli()
    claim = transport.solve(target, draft_law.iid(draft, 2))
    assert claim.fault(target=draft) == "the certificate is about another target"
    assert "is about another distribution of the drafts" in (claim.fault(draft_law=draft_law.iid(target, 2)) or "")


def test_a_certificate_that_cannot_be_read_says_of_what_kind_the_error_is():
    unreadable = replace(transport.solve(*(bernoulli()[0], draft_law.iid(bernoulli()[1], 1))), target=None)
    assert str(unreadable.fault()).startswith("the certificate cannot be read: TypeError: ")
