"""What usually mends each known bug whose specimen says nothing of it itself, by its name.

Source: the changes that closed the issues which the specimens name, and the rules of Leviathan et al. 2023.
"""

from __future__ import annotations

from collections.abc import Mapping

REPAIRS: Mapping[str, str] = {
    "M1": "map the draft's law and its tokens by one table, in one place",
    "M2": "report a greedy draft as one-hot, or draw it from the law that is reported",
    "M3": "report the law that the draft was drawn from, after all processors",
    "M4": "divide the logits by one temperature before drawing, and report the law after it",
    "M5": "draw from the very numbers that are reported, of one type",
    "M6": "report a beam's tokens as one-hot, or sample them",
    "M49": "stop drafting after the token of low confidence and verify it, or renormalise the law that is reported",
    "M7": "compare first and combine then: write the parentheses, and test a draft that must be rejected",
    "M8": "draw a uniform for each position",
    "M10": "verify the first draft as the others",
    "M14": "accept with t(x)/d(x), the draft's mass below and not the target's largest one",
    "M15": "read the drafted token's mass before any masking, and refuse a drafted token of mass 0",
    "M16": "take one rule: the ratio test with its residual, or a match with the target's own draw",
    "M31": "set the chance to 0 before each search, so that a token that is missing has none",
    "M38": "mark a failure with what is no token, such as -1 or None",
    "M48": "a lenience of 1 is lossless; else state the rule as lossy, with its distance",
    "M48, constant": "compare the ratio with a uniform in place of the constant; else state the rule as lossy",
    "M11": "after a rejection draw from (t - d)+, divided by its sum",
    "M12": "keep the draft's whole law and subtract all of it",
    "M13": "draw from the residual, with noise of its own for each request, and not its argmax",
    "M25": "on a mismatch emit the token that the target drew for the comparison",
    "M26": "test first, and change a copy for the residual",
    "M30": "subtract by the token's id and not by its place in the lists",
    "M30 with M2": "subtract by the token's id, and report a greedy draft as one-hot",
    "M17": "gather the draft's rows by request and position, and test it on requests that differ",
    "M18": "expand the tensors of requests to their tokens before they are read",
    "M19": "apply the request's parameters to every row that verifies, as to the one that is sampled",
    "M20": "apply the logits processor to all rows, that of the bonus token too",
    "M21": "apply min-p to all rows, or to none",
    "M22": "divide by the temperature and verify by the ratio; verify greedily at temperature 0 alone",
    "M44": "hand the expanded parameters on to the call that is wrapped",
    "M45": "mask the bonus token's row by the grammar's state after all accepted drafts",
    "M23": "draw the bonus token from the target's row after the last accepted node",
    "M24": "draw once after each prefix, whichever paths share it, and emit what was drawn",
    "M27": "accept a block by h = r/(r + 1 - w), r the sum of the residual (w t - d)+, and draw from that residual",
    "M28": "draw from the residual of the block, (w t - d)+, w the product of capped ratios",
    "M29": "report a draft without probabilities as one-hot, and verify it token by token",
    "M32": "draw a number of its own for the correction",
    "M33": "draw a number of its own for the final draw, or test siblings against the running sum with one coin",
    "M34": "draw noise of its own for the correction: another seed, offset or salt than the draft's",
    "M36": "seed once for a request, and never inside the loop",
    "M37": "hand the generator's state into the compiled function and out of it again",
    "M39": "accept where u is strictly below the ratio, u in [0, 1)",
    "M40": "draw u in [0, 1), or end the walk at the last token that has mass",
    "M41": "leave the padding out of the argmax, and refuse a row that is no law",
    "M42": "mask placeholders before they are used as an index, and count them as rejected",
    "M43": "keep placeholders apart from tokens until they are cut off",
    "M35": "number coins by draw and not by position, or draw anew for positions that were not committed",
    "M46": "update the penalties after each token of a step, drafts too, before the next row is processed",
    "M9": "gather both masses at the drafted token's id, and draw drafts from the law that is reported",
    "M47": "draw the coins on one rank and send them to the others, or seed all ranks alike",
    "M50": "append the bonus token to the draft's cache before it drafts again; no law changes, only what is accepted",
}
"""The usual repair, in the imperative."""
