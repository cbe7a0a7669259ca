"""Chain and block verification on logits: whole ragged batches, no wait for the device, the laws never held at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from spec_math.block_level import array_form
from spec_math.block_level.array_form import Coins, Verified
from torch_bridge import entrance
from torch_bridge.blocked_draw import drawn
from torch_bridge.options import DEFAULT, Options, restricted
from torch_bridge.softmax_rows import Rows, block_sums, rows_of, weigh, working

CHUNK_BYTES = {"cpu": 2**23}
ELSEWHERE = 2**28

LARGEST_LOG_RATIO = 700.0
"""Ratios t/d above e^700 count as e^700: any above 1 accepts, and a product with a weight stays finite."""


class Batch(NamedTuple):
    """What is given: target logits [B, L + 1, V], draft logits [B, L, V], tokens [B, L] and uniforms [B, L + 1]."""

    targets: Any
    drafts: Any
    tokens: Any
    uniforms: Any


Toss = Callable[[Any, "_Work"], Coins]
"""A rule of verification: from the ratios t/d [B, L] of the drafted tokens and the work at hand to the coins."""


def verify_token(
    target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT
) -> Verified:
    """Verify a batch of drafted chains token by token, from logits, as `chain.verify` does each from its laws.

    The law: x_i is accepted with chance min(1, t_i(x_i)/d_i(x_i)) up to the first rejection; then a token from the
    residual of that position, or from the target's next row. target_logits [B, L + 1, V] and draft_logits [B, L, V] of
    one floating type and device; tokens [B, L], −1 from where a chain is shorter; uniforms [B, L + 1] in [0, 1),
    column i the coin of position i and the last the final draw. Returns tokens [B, L + 1], padded with −1, and their
    number [B]. The same inputs give the same tokens; they are those of the replayed program wherever
    `threshold.margin` exceeds `threshold.bound`. Rows behind a chain's end may hold anything.

    Raises:
        TypeError, ValueError: shapes, types or devices do not fit; with `options.check` also a row without a law, a
            token out of range or without draft mass, a uniform outside [0, 1).

    Source: SpecTr, Alg. 4; Timor et al., Alg. 5.

    >>> draft, target = torch.zeros(1, 1, 2), torch.tensor([[[-torch.inf, 0.0], [0.0, -torch.inf]]])
    >>> verify_token(target, draft, torch.tensor([[1]]), torch.tensor([[0.9, 0.5]])).emitted.tolist()
    [[1, 0]]
    """
    return _verified(_toss_chain, (target_logits, draft_logits, tokens, uniforms), options)


def verify_block(
    target_logits: Any, draft_logits: Any, tokens: Any, uniforms: Any, options: Options = DEFAULT
) -> Verified:
    """Verify a batch of drafted chains each as a block, from logits; arguments and errors as `verify_token`.

    The law: that of `block.verify`, which accepts at least as many tokens. Source: Sun et al. 2024 (block
    verification).

    >>> draft, target = torch.zeros(1, 1, 2), torch.tensor([[[-torch.inf, 0.0], [0.0, -torch.inf]]])
    >>> verify_block(target, draft, torch.tensor([[0]]), torch.tensor([[0.0, 0.5]])).emitted.tolist()
    [[1, -1]]
    """
    return _verified(_toss_block, (target_logits, draft_logits, tokens, uniforms), options)


def _verified(toss: Toss, given: tuple[Any, Any, Any, Any], options: Options) -> Verified:
    entrance.check_fit(*given)
    if options.check:
        entrance.check_data(*given, options)
    targets, drafts, tokens, uniforms = given
    work = _Work(Batch(targets, drafts, tokens.long(), uniforms.double()), options)
    coins = toss(work.ratios(), work)
    return array_form.joined(work.batch.tokens, coins.accepted, work.following(coins))


def _toss_chain(ratios: Any, work: _Work) -> Coins:
    return array_form.chain_coins(ratios, torch.ones_like(ratios), work.batch.tokens, work.batch.uniforms)


def _toss_block(ratios: Any, work: _Work) -> Coins:
    return array_form.block_coins((ratios, torch.ones_like(ratios)), work.left, work.batch.tokens, work.batch.uniforms)


class _Work:
    """The laws of a batch, weighed a few requests at a time in memory that is taken once a call.

    Fresh pages for each chunk would cost more than its softmax.
    """

    def __init__(self, batch: Batch, options: Options) -> None:
        self.batch, self.options = batch, options
        requests, places, vocabulary = batch.targets.shape
        kind = working(batch.targets.dtype)
        most = options.chunk_bytes or CHUNK_BYTES.get(batch.targets.device.type, ELSEWHERE)
        rows = max(most // (vocabulary * kind.itemsize), places, 3)
        self._space = torch.empty(
            (min(rows, requests * max(places, 3)), vocabulary), dtype=kind, device=batch.targets.device
        )
        at = batch.tokens.clamp(min=0)
        # The target's last row has no coin: it is weighed only where a token is drawn from it.
        self._targets = self._weighed(batch.targets[:, :-1], at)
        self._drafts = self._weighed(batch.drafts, at)

    def ratios(self) -> Any:
        """Return t/d [B, L] of the drafted tokens, 0 where the target has no mass, whatever the draft's."""
        t, d = self._targets.log_masses(self.options), self._drafts.log_masses(self.options)
        ratios = (t - d).clamp(max=LARGEST_LOG_RATIO).exp()
        return torch.where(t == -torch.inf, torch.zeros_like(ratios), ratios)

    def left(self, place: int, weight: Any) -> Any:
        """Return ρ = Σ (w·t − d)+ [B] at one position, for weights w [B]."""
        position = torch.full_like(self.batch.tokens[:, 0], place)
        total = self._drafts.totals[:, place]
        scale = weight * total / self._targets.totals[:, place]
        return (
            torch.cat(
                [block_sums(rest).sum(dim=-1, dtype=torch.float64) for _, rest, _ in self._residuals(position, scale)]
            )
            / total
        )

    def following(self, coins: Coins) -> Any:
        """Draw the token [B] that follows the accepted ones: from (w·t − d)+ after a rejection, from t otherwise."""
        rejected = coins.accepted < array_form.lengths(self.batch.tokens)
        at = coins.accepted.clamp(max=self.batch.tokens.shape[1] - 1)[:, None]
        scale = coins.weight * (self._drafts.totals.gather(1, at) / self._targets.totals.gather(1, at))[:, 0]
        return torch.cat(
            [
                drawn(rest, t, rejected[here], self.batch.uniforms[here, -1])
                for here, rest, t in self._residuals(coins.accepted, scale)
            ]
        )

    def _weighed(self, logits: Any, tokens: Any) -> Rows:
        requests, places = logits.shape[:2]
        size = max(1, len(self._space) // places)
        parts: list[Rows] = []
        for start in range(0, requests, size):
            chunk = logits[start : start + size]
            into = self._space[: len(chunk) * places].view(chunk.shape)
            parts.append(rows_of(chunk, tokens[start : start + size], self.options, into))
        return Rows(*(torch.cat(each) for each in zip(*parts, strict=True)))

    def _residuals(self, positions: Any, scale: Any) -> Iterator[tuple[slice, Any, Any]]:
        """Yield, for some requests at a time, the masses (scale·t − d)+ and t [b, V] at one position of each."""
        size = max(1, len(self._space) // 3)
        spaces = self._space[: 3 * size].view(3, size, -1)
        last = self.batch.drafts.shape[1] - 1
        for start in range(0, len(positions), size):
            here = slice(start, start + size)
            place = positions[here]
            t, d, rest = spaces[:, : len(place)].unbind()
            weigh(restricted(_at(self.batch.targets, place, here), self.options), self.options, t)
            weigh(restricted(_at(self.batch.drafts, place.clamp(max=last), here), self.options), self.options, d)
            torch.mul(t, scale[here, None].to(t.dtype), out=rest)
            yield here, rest.sub_(d).clamp_(min=0), t


def _at(logits: Any, places: Any, here: slice) -> Any:
    """Return the row [b, V] of one position of each of some requests."""
    size = logits.shape[1]
    requests = torch.arange(len(places), device=places.device)
    if not logits.is_contiguous():
        return logits[here][requests, places]
    # Three times as fast as indexing with two arrays.
    return torch.index_select(logits.view(-1, logits.shape[-1]), 0, (requests + here.start) * size + places)
