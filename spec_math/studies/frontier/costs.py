"""What a call costs: the target on N nodes and a batch, the drafter level by level, and verification, in plain calls.

Source: our own; a roofline, as a call is bound by memory up to some number of tokens and by arithmetic beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Costs:
    """Latencies in units of a plain call of the target on the whole batch.

    draft: one call of the drafter. knee: how many tokens a call of either model takes at no extra time. verify: what
    verification adds a node. batch: how many texts are decoded at once.

    >>> Costs().of_call(nodes=48, levels=6, widest=8)
    1.324
    """

    draft: float = 0.05
    knee: float = 256.0
    verify: float = 0.0005
    batch: int = 1

    def of_call(self, nodes: int, levels: int, widest: int) -> float:
        """Return the latency of one block: `levels` drafter calls, one target call on `nodes` + 1 tokens, verification.

        The target takes max(1, batch·(nodes + 1)/knee) over max(1, batch/knee); a drafter call draft times the same of
        its `widest` level. Units: plain calls.
        """
        plain = max(1.0, self.batch / self.knee)
        target = max(1.0, self.batch * (nodes + 1) / self.knee) / plain
        drafter = self.draft * max(1.0, self.batch * widest / self.knee) / plain
        return target + levels * drafter + self.verify * nodes

    def speed_up(self, tokens: float, nodes: int, levels: int, widest: int) -> float:
        """Return the times that decoding is faster than one plain call a token.

        >>> Costs(draft=0, verify=0).speed_up(2.0, nodes=8, levels=4, widest=2)
        2.0
        """
        return tokens / self.of_call(nodes, levels, widest)

    def __str__(self) -> str:
        """Say what is assumed, in a sentence."""
        return (
            f"Costs in plain calls of the target: a drafter call {self.draft:g}, verification {self.verify:g} a node, "
            f"and a call takes {self.knee:g} tokens at no extra time (batch {self.batch})."
        )


def parsed(text: str, batch: int) -> Costs:
    """Read "draft=0.05,knee=256,verify=0.0005"; what is left out keeps its default.

    Raises:
        ValueError: another name, or a number that is negative, not finite or, of the knee, 0.

    >>> parsed("draft=0.1", 4)
    Costs(draft=0.1, knee=256.0, verify=0.0005, batch=4)
    """
    known = [field.name for field in fields(Costs) if field.name != "batch"]
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name.strip() not in known:
            raise ValueError(f"--costs takes {', '.join(f'{one}=NUMBER' for one in known)}; got {part!r}")
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"--costs: {name.strip()} must be a number; got {value.strip()!r}") from None
        if not 0 <= number < float("inf") or (name.strip() == "knee" and number < 1):
            raise ValueError(f"--costs: {name.strip()} must be finite and at least {int(name == 'knee')}; got {value}")
        found[name.strip()] = number
    if batch < 1:
        raise ValueError(f"--batch must be at least 1; got {batch}")
    return Costs(**found, batch=batch)
