"""The law of the texts that blocks emit in a row, by a walk over prefixes and the drafts used in the block."""

from fractions import Fraction

from spec_math.block_level.conditionals import Conditionals
from spec_math.chance import law


def text_law(models, length, lookahead, rule, options=None):
    """{text: mass} of the first `length` tokens that blocks of `lookahead` drafts emit one after another."""
    laws = Conditionals(*models, ())
    running, finished = {((), 0): Fraction(1)}, {}
    for _ in range(length):
        after = {}
        for (text, used), mass in running.items():
            if laws.ends(text):
                finished[text] = finished.get(text, 0) + mass
                continue
            for (token, state), chance in _step(laws, text, used, lookahead, rule, options).items():
                key = (*text, token), state
                after[key] = after.get(key, 0) + mass * chance
        running = after
    for (text, _), mass in running.items():
        finished[text] = finished.get(text, 0) + mass
    return finished


def _step(laws, text, used, lookahead, rule, options):
    """{(next token, drafts used after it): probability}."""
    t = laws.target(text)
    if used == lookahead:
        return {(token, 0): mass for token, mass in enumerate(t) if mass}
    d = laws.draft(text)
    found = {}
    for emission, mass in law(lambda coin: rule.emit(coin, (coin.draw(d),), t, d, options)).items():
        key = emission.token, used + 1 if emission.accepted else 0
        found[key] = found.get(key, 0) + mass
    return found
