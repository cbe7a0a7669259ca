"""Distances from a threshold beyond which rounding cannot make an array form decide otherwise than its program."""

from __future__ import annotations

from spec_math.array_coin import UNIT


def block_bound(size: int, length: int) -> float:
    """Return the margin beyond which `decide_block` decides in float64 as the replayed `block.verify` does.

    For V = `size` tokens, chains of up to `length` = L tokens and float laws that were divided by their own sums; the
    margin is `ArrayCoin.margin`, measured, u = 2^-53. A step of the weight has a relative error of (4V + 4)u, as the
    formula divides by both sums: w_i of ω = i(4V + 4)u. Then (w t − d)+ is off by ω + (4V + 6)u in L1, its sum ρ by ω +
    (7V + 7)u. A coin ρ/(ρ + 1 − w), times ρ + 1 − w, moves by the errors of ρ twice and of w once: 3ω + (14V + 24)u;
    the program, which divides by no sum, has (2V + 6i + 14)u. With i ≤ L − 1 that is less than (16V + 40)Lu, and the
    last coin's w_L and the draw, which compares two sums of the masses, are off by less.
    """
    return (1 + 2.0**-8) * (16 * size + 40) * length * UNIT


def multi_path_bound(size: int, length: int, k: int) -> float:
    """Return the margin beyond which `decide_multi_path` decides in float64 as the replayed program does.

    For V = `size` tokens, k chains of up to `length` tokens, float laws that were divided by their own sums, and ratios
    t/d that are the same floats for both, which they rank by. The margin is `ArrayCoin.margin`, measured; in units of
    u = 2^-53 and relative errors: where the paths so far lie, a, by r_i, r_0 = 0. An end b = a + (1 − a)D of a token is
    off by 2r + 3V + 8, as 1 − a loses what a has. The next a = b/(b + own) has own's error, a·r of what is at least a,
    and b's: r_{i+1} ≤ 3r_i + 5V + 13. The law of the path, d·h(b, b')/h(a, 1) with sums h of k products of k − 1
    factors, is off by σ_i = 2(k − 1)(2r_i + 3V + 8) + 4k + 4. Block verification against it: ω_{i+1} ≤ ω_i + 2σ_i + 4V
    + 4, and a coin or the draw by 3ω_i + 6σ_i + 14V + 24. The program has no more: twice that.
    """
    place = weight = coin = 0.0
    for _ in range(length):
        law = 2 * (k - 1) * (2 * place + 3 * size + 8) + 4 * k + 4
        coin = 3 * weight + 6 * law + 14 * size + 24  # more than that of any token before, and than the 3ω at the end
        place, weight = 3 * place + 5 * size + 13, weight + 2 * law + 4 * size + 4
    return (1 + 2.0**-8) * 2 * coin * UNIT
