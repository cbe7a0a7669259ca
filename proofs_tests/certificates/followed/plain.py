"""Samplers that draw from Python's random alone; they import nothing else."""
# ruff: noqa: ARG001, B905 - samplers as people write them

import random


def residual(target, draft):
    """Return max(0, target − draft), divided by its sum; the target where the sum is 0."""
    rest = [max(0, t - d) for t, d in zip(target, draft)]
    return [one / sum(rest) for one in rest] if sum(rest) else target


def draw(law):
    """Draw a token."""
    return random.choices(range(len(law)), law)[0]


def recursive(tokens, target, draft):
    """Recursive rejection: accept x with min(1, t(x)/d(x)), then go on with the residual."""
    for x in tokens:
        if random.random() * draft[x] < target[x]:
            return x
        target = residual(target, draft)
    return draw(target)


def redraws(tokens, target, draft):
    """M7 of the zoo: after a rejection the target is drawn from."""
    return tokens[0] if random.random() * draft[tokens[0]] < target[tokens[0]] else draw(target)


def hopeful(tokens, target, draft):
    """Accept whatever is drafted."""
    return tokens[0]


def chain(tokens, target, draft):
    """A chain of drafts, position by position."""
    out = []
    for place, x in enumerate(tokens):
        if random.random() >= target[place][x] / draft[place][x]:
            return [*out, draw(residual(target[place], draft[place]))]
        out.append(x)
    return [*out, draw(target[-1])]


def even_chain(tokens, target, draft):
    """A chain whose bonus token is drawn evenly."""
    out = chain(tokens, target, draft)
    return [*out[:-1], random.randrange(len(target[0]))] if len(out) > len(tokens) else out


def wheel(target, draft):
    """Draw a token of quarters by a whole number: it drafts by itself."""
    return 0 if random.randrange(4) < 4 * target[0] else 1


def sometimes(tokens, target, draft):
    """Raise an exception where a token was rejected whose residual is 0."""
    x = tokens[0]
    if random.random() * draft[x] < target[x] - 1 / 8:
        return x
    if random.random() < 1 / 2:
        raise ArithmeticError(x)
    return draw(target)


def out_of_range(tokens, target, draft):
    """Return a token that there is not, by a shuffled list."""
    listed = [0, 1, len(target)]
    random.shuffle(listed)
    return listed[0]


def with_generator(tokens, target, draft, rng: random.Random):
    """Recursive rejection of one draft, with a generator as an argument."""
    x = tokens[0]
    accepted = rng.random() * draft[x] < target[x]
    return x if accepted else rng.choices(range(len(target)), residual(target, draft))[0]


def guarded(tokens, target, draft):
    """Draw a token by a sample of the vocabulary."""
    return random.sample(range(len(target)), 2)[0]


def below(target, draft):
    """Draw a token of two by one uniform number."""
    return 0 if random.random() < target[0] else 1
