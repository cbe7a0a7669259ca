"""Chain and block verification on logits: whole ragged batches, no wait for the device, the laws never held at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from spec_math.block_level.batch import array_form
from spec_math.block_level.batch.array_form import Coins, Verified
from torch_bridge import input_validation
from torch_bridge.blocked_draw import drawn
from torch_bridge.chunks import chunk_bytes
from torch_bridge.options import DEFAULT, Options, restricted
from torch_bridge.softmax_rows import Rows, block_sums, rows_of, weigh, working

LARGEST_LOG_RATIO = 700.0
"""Ratios t/d above e^700 count as e^700: any above 1 accepts, and a product with a weight stays finite."""


class Batch(NamedTuple):
    """What is given: target logits [B, L + 1, V], draft logits [B, L, V], tokens [B, L] and uniforms [B, L + 1]."""

    targets: Any
    drafts: Any
    tokens: Any
    uniforms: Any


Tosses = Callable[["_Work"], Coins]
"""A rule of verification: it weighs the rows that have coins, and tosses them."""


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


def _verified(toss: Tosses, given: tuple[Any, Any, Any, Any], options: Options) -> Verified:
    input_validation.check_fit(*given)
    if options.check:
        input_validation.check_data(*given, options)
    targets, drafts, tokens, uniforms = given
    work = _Work(Batch(targets, drafts, tokens.long(), uniforms.double()), options)
    coins = toss(work)
    return array_form.joined(work.batch.tokens, coins.accepted, work.following(coins))


def _toss_chain(work: _Work) -> Coins:
    """Weigh all rows and keep none; the coins need two numbers of each."""
    ratios = work.ratios()
    return array_form.chain_coins(ratios, torch.ones_like(ratios), work.batch.tokens, work.batch.uniforms)


def _toss_block(work: _Work) -> Coins:
    """Toss the coins of a few requests while their laws are still in the cache, as each coin needs a whole residual."""
    parts = [
        array_form.block_coins(
            (ratios, torch.ones_like(ratios)), left, work.batch.tokens[here], work.batch.uniforms[here]
        )
        for here, ratios, left in work.chunks()
    ]
    return Coins(*(torch.cat(each) for each in zip(*parts, strict=True)))


class _Work:
    """The laws of a batch, weighed a few requests at a time in memory that is taken once a call.

    Fresh pages for each chunk would cost more than its softmax.
    """

    def __init__(self, batch: Batch, options: Options) -> None:
        self.batch, self.options = batch, options
        requests, lookahead, vocabulary = batch.drafts.shape
        kind = working(batch.targets.dtype)
        # At least one request: its target's and draft's rows, and one for a residual.
        most = chunk_bytes(options, batch.targets.device) // (vocabulary * kind.itemsize)
        rows = max(most, 2 * lookahead + 1)
        self._space = torch.empty(
            (min(rows, requests * (2 * lookahead + 1)), vocabulary), dtype=kind, device=batch.targets.device
        )
        self._totals: list[tuple[Any, Any]] = []

    def ratios(self) -> Any:
        """Return t/d [B, L] of the drafted tokens; on a CPU, where asking is free, 1 behind the first rejection."""
        if self.batch.tokens.device.type == "cpu":
            return self._ratios_while_going()
        # The target's last row has no coin: it is weighed only where a token is drawn from it.
        target, draft = (self._all_rows(logits) for logits in (self.batch.targets[:, :-1], self.batch.drafts))
        self._totals = [(target.totals, draft.totals)]
        return _ratios(target.log_masses(self.options), draft.log_masses(self.options))

    def _ratios_while_going(self) -> Any:
        """Weigh position after position, and of each the requests alone that have not been rejected before it."""
        tokens = self.batch.tokens
        ratios, *totals = (torch.ones_like(tokens, dtype=torch.float64) for _ in range(3))
        going = torch.arange(len(tokens))
        size = max(1, len(self._space))
        for place in range(tokens.shape[1]):
            going = going[tokens[going, place] >= 0]
            for start in range(0, len(going), size):
                here = going[start : start + size]
                found = [self._rows(logits, place, here) for logits in (self.batch.targets, self.batch.drafts)]
                target, draft = (each.log_masses(self.options.at(here)) for each in found)
                ratios[here, place] = _ratios(target, draft)
                for total, each in zip(totals, found, strict=True):
                    total[here, place] = each.totals
            going = going[self.batch.uniforms[going, place] < ratios[going, place]]
        self._totals = [(totals[0], totals[1])]
        return ratios

    def chunks(self) -> Iterator[tuple[slice, Any, Callable[[int, Any], Any]]]:
        """Yield some requests, their ratios t/d [b, L], and ρ = Σ (w·t − d)+ [b] by left(place, w) from held laws."""
        requests, lookahead = self.batch.tokens.shape
        size = max(1, len(self._space) // (2 * lookahead + 1))
        self._totals = []
        for start in range(0, requests, size):
            here = slice(start, start + size)
            at = self.batch.tokens[here].clamp(min=0)
            logits = self.batch.targets[here, :-1], self.batch.drafts[here]
            rows, count = at.numel(), len(at)
            laws = [self._space[first : first + rows].view(*at.shape, -1) for first in (0, rows)]
            options = self.options.at(here)
            target, draft = (rows_of(each, at, options, law) for each, law in zip(logits, laws, strict=True))
            rest = self._space[2 * rows : 2 * rows + count]

            def left(place: int, weight: Any, laws: Any = laws, totals: Any = (target, draft), rest: Any = rest) -> Any:
                total = totals[1].totals[:, place]
                scale = weight * total / totals[0].totals[:, place]
                torch.mul(laws[0][:, place], scale[:, None].to(rest.dtype), out=rest)
                return block_sums(rest.sub_(laws[1][:, place]).clamp_(min=0)).sum(dim=-1, dtype=torch.float64) / total

            self._totals.append((target.totals, draft.totals))
            yield here, _ratios(target.log_masses(options), draft.log_masses(options)), left

    def following(self, coins: Coins) -> Any:
        """Draw the token [B] that follows the accepted ones: from (w·t − d)+ after a rejection, from t otherwise."""
        rejected = coins.accepted < array_form.lengths(self.batch.tokens)
        at = coins.accepted.clamp(max=self.batch.tokens.shape[1] - 1)[:, None]
        target_totals, draft_totals = (torch.cat(each) for each in zip(*self._totals, strict=True))
        scale = coins.weight * (draft_totals.gather(1, at) / target_totals.gather(1, at))[:, 0]
        return torch.cat(
            [
                drawn(rest, t, rejected[here], self.batch.uniforms[here, -1])
                for here, rest, t in self._residuals(coins.accepted, scale)
            ]
        )

    def _all_rows(self, logits: Any) -> Rows:
        """Weigh all rows [B, L], some requests at a time, and keep what coins need."""
        requests, places = logits.shape[:2]
        tokens, size = self.batch.tokens.clamp(min=0), max(1, len(self._space) // places)
        parts: list[Rows] = []
        for start in range(0, requests, size):
            chunk = logits[start : start + size]
            into = self._space[: len(chunk) * places].view(chunk.shape)
            here = slice(start, start + size)
            parts.append(rows_of(chunk, tokens[here], self.options.at(here), into))
        return Rows(*(torch.cat(each) for each in zip(*parts, strict=True)))

    def _rows(self, logits: Any, place: int, requests: Any) -> Rows:
        """Weigh the rows of one position of some requests, and keep what coins need."""
        rows = _at(logits, torch.full_like(requests, place), requests)
        into = self._space[: len(requests)]
        return rows_of(rows, self.batch.tokens[requests, place].clamp(min=0), self.options.at(requests), into)

    def _residuals(self, positions: Any, scale: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Yield, for some requests at a time, the masses (scale·t − d)+ and t [b, V] at one position of each."""
        size = max(1, len(self._space) // 2)
        spaces = self._space[: 2 * size].view(2, size, -1)
        last = self.batch.drafts.shape[1] - 1
        for start in range(0, len(positions), size):
            here = torch.arange(start, min(start + size, len(positions)), device=positions.device)
            place = positions[here]
            t, rest = spaces[:, : len(place)].unbind()
            own = self.options.at(here)
            weigh(restricted(_at(self.batch.targets, place, here), own), own, t)
            weigh(restricted(_at(self.batch.drafts, place.clamp(max=last), here), own), own, rest)
            yield here, rest.neg_().addcmul_(t, scale[here, None].to(t.dtype)).clamp_(min=0), t


def _ratios(t: Any, d: Any) -> Any:
    """Return t/d [b, L] from the masses' logarithms, 0 where the target has no mass, whatever the draft's."""
    ratios = (t - d).clamp(max=LARGEST_LOG_RATIO).exp()
    return torch.where(t == -torch.inf, torch.zeros_like(ratios), ratios)


def _at(logits: Any, places: Any, requests: Any) -> Any:
    """Return the row [b, V] of one position of each of some requests."""
    if not logits.is_contiguous():
        return logits[requests, places]
    # Three times as fast as indexing with two arrays.
    return torch.index_select(logits.view(-1, logits.shape[-1]), 0, requests * logits.shape[1] + places)
