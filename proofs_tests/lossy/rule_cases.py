"""Random cases of every rule: laws, drafts, every option and value of its sweep."""

from proofs_tests.lossy.budget_oracle import instances
from spec_math import exact
from spec_math.coupling import joint
from spec_math.lossy import RULES, cascade, fuzzy

BY_NAME = {rule.name: rule for rule in RULES}


# Every option that a rule has, beside its swept parameter.
VARIANTS = {
    "ensemble": [{}],
    "lenience": [{"after": "scaled"}, {"after": "residual"}],
    "mentored decoding": [{}, {"to_target": True}],
    "Cactus": [{}],
    "typical acceptance": [{"after": "target"}, {"after": "favourite", "alpha": "1/2"}],
    "fuzzy": [{"measure": measure} for measure in fuzzy.MEASURES],
    "speculative cascade": [{"rule": rule} for rule in cascade.RULES],
    "relaxed top": [{"top": 2}, {}],
    "two thresholds": [{}, {"single": "1/3"}],
}


def cases(rule, number=60, largest=4):
    """(target, draft, k, options): random laws, and every variant and value of the sweep in turn."""
    for i, (target, draft, k) in enumerate(instances(31, number, largest)):
        variants = VARIANTS[rule.name]
        value = rule.swept[i % len(rule.swept)]
        options = rule.options(value, **variants[i // len(rule.swept) % len(variants)])
        yield exact(target), exact(draft), rule.drafts(min(k, 2)), options


def coupling_of(rule, target, draft, k, options):
    return joint(
        lambda coin: rule.draw(coin, draft, k), lambda coin, tokens: rule.emit(coin, tokens, target, draft, options)
    )
