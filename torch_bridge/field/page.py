"""The page of the field, docs/field.md, from what is recorded: the same text from the same data, byte by byte."""

# ruff: noqa: E501 - the page is Markdown

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch_bridge.field.judging import Found

PAGE = Path(__file__).parent.parent.parent / "docs" / "field.md"

HEAD = """# The field, judged

Public samplers, run as they were published: each row is one function of the version named, loaded out of its package with
stand-ins for what it imports and does not use, and walked down every path of its random numbers. Nothing is sampled. The law
of the tokens emitted is compared with the target's, under the options that the function applies itself.

A function is one part of its project, and may be called there in a way that the row does not show; options are named where
they matter. Versions change: what is said holds for the version that was run. `spec-math audit NAME` runs a row anew, and
`make field` all of them.

"""

TAIL = """
## What was run on each

Drafts are sampled from the draft's law unless the rule says otherwise. Every engine is judged on laws of three tokens that
depend on the last token, with zeros, for one to three drafts, and for one and two at the temperatures 1, ½ and 0 with no
filter, top-k 2 and top-p 0.8, as far as the function applies them itself; and over two rounds. For each there is a control: one place of its
source changed, which must be found lossy. A distance is a total variation, of the first token and of the first tokens; it is
exact up to the rounding that the verdict states, and written as the fraction that it is within that. Code that is lossy or raises
is mended before its control is tried. Sequoia and TriForce, whose rounds take many paths, are judged over two rounds on laws of two
tokens alone, and in float32 where Sequoia's own type is half precision.

## What could not be had

- *TensorRT-LLM*: the package index has an installer without sources, and a copy of the whole repository is too large for this
  work: what was judged are the three functions that draw and verify, copied out of one file at the commit that is named.
- *openvino-genai* is compiled: its rule was written down after its source, in `torch_bridge/restated`, and the row is about what is
  written there, from a text's second step on. Its wheel was run as a black box too: two models of one layer, built with openvino's
  own interface, whose law is target (1/4, 3/4) and draft (3/4, 1/4) after every text, one draft a step, seeds 1 to 40,000 on a
  processor. The second token is 0 in 31,137 of 40,000 texts, 77.8 %; the rule as it is written down has 78.1 %, the target 25 %.
  Without a draft model it is 0 in 5,031 of 20,000. `spec-math audit --samples` rejects the first after 39 tokens, and not the second.
  `examples/openvino_draws.py` draws these tokens, [as the how-to shows](how_to/audit_a_black_box.md#an-engine-that-is-compiled).
- *vllm-ascend* 0.23.0.post1 has no archive for the Python that is used here; what is said holds for 0.18.0.

## What reading suspected

| suspected in the source | what became of it |
|---|---|
| tpu-inference: top-p before the temperature, a greedy request in a mixed batch | lossy: row *tpu-inference sampler* |
| lmdeploy: filters on the bonus row alone; a greedy request beside | lossy: rows *lmdeploy sampler*, and the same beside a greedy request |
| vllm-ascend: mixed batches | right: row *vllm-ascend mixed batch* |
| litgpt: the residual goes through a filter of logits | raises at top_p below 1: row *litgpt* |
| REST, Medusa's nucleus sampling: several tries of one token | lossy: rows *REST*, *Medusa nucleus* |
| Medusa without `fast` raises | it does: row *Medusa without fast* |
| feifeibear: token 0 raises | it does: row *feifeibear token 0* |
| speculative Jacobi: the warper twice | lossy at a temperature other than 1: row *speculative Jacobi* |
| neuronx: an empty residual becomes the uniform law | it is never drawn from: the residual is empty where the target is sure of the draft, which is then kept; row *neuronx* |
| xLLM: the residual of one token | lossy, as it is written down: row *xLLM* |
| llama.cpp's example: the residual by place in two lists | lossy, as it is written down, and more so because the likeliest token is tested by the ratio: row *llama.cpp example* |
| vllm-gaudi | greedy requests alone, and right: row *vllm-gaudi* |

Read, and not run:

- *exllamav3* 4f8ad01, `generator/generator.py`: at each place the target's own draw is compared with the draft and emitted, so that no
  draft changes its law. Its loop needs the whole generator.
- *ipex-llm* de6bce2, `transformers/speculative.py`: ratio test, residual of the two laws, a draw of the target's after all drafts; the check
  stands in the middle of a loop of 460 lines that reads the engine's own models.
- *onnxruntime-genai* a0c04eb, `src/speculative_sampling.h`: the residual subtracts by the token's id, and proposals without a law are matched
  with the target's own draw. It is compiled, and takes a generator and no coins.
- *aphrodite-engine* b42eeec, `v1/sample/rejection_sampler.py`: Triton kernels of the same form as vLLM's; they were read in part alone.
- *FlashInfer* fb28d72, `sampling.cuh`: a draft is kept where u·d(x) < t(x), with u out of (0, 1], 1 included: at u = 1 and equal laws it is
  rejected with nothing left to draw. It is a CUDA kernel that owns its random numbers.
- *SGLang*'s kernel for trees is compiled for the processor and walked on a grid of coins by a test of its own, on laws that the grid fits;
  the field's laws do not.
- *mlx-lm* and *mlx-vlm* compare the target's own draw or share its noise, as read; they need Metal. *max* was read in part alone.

For vLLM and SGLang the coins of a kernel are put in and bisected, under Triton's interpreter, with the versions of `constraints-engines.txt`.

For each defect there is a report ready to be sent:

```{toctree}
:glob:
:maxdepth: 1

field_reports/*
```

An engine is added by one file, [as the how-to shows](how_to/add_an_engine.md).
"""

WORDS = {"lossless": "lossless", "lossy": "**lossy**", "raises": "**raises**", "undecided": "undecided"}


def page(recorded: Mapping[str, Found]) -> str:
    """Return the page of what is recorded.

    >>> page({}).startswith("# The field, judged")
    True
    """
    rows = [_row(found) for found in recorded.values()]
    table = ["| engine | version | rule | verdict | first token | distance | smallest failing case |", "|" + "---|" * 7]
    parts = [HEAD + "\n".join([*table, *rows]) + "\n"]
    parts += [_details(found) for found in recorded.values() if found["verdict"] != "lossless"]
    undone = [found for found in recorded.values() if found["control"]["verdict"] != "lossy"]
    if undone:
        parts.append(f"\nNo control of these was rejected: {', '.join(one['name'] for one in undone)}.\n")
    return "".join(parts) + TAIL


def pinned(found: Found) -> str:
    """Return what was judged: a package and its version, or a repository and its commit."""
    if "package" in found:
        return f"{found['package']} {found['version']}"
    if "restated" in found:
        return f"{found['restated']}, restated"
    return f"{found['repository']} {found['commit'][:7]}"


def by_design(found: Found) -> bool:
    """Return whether all that was found of an engine is by its design; and where no cause is known.

    >>> by_design({"defects": [{"cause": "a threshold", "mend": [], "by design": True}]})
    True
    """
    return all(one.get("by design") for one in found.get("defects", ()))


def _row(found: Found) -> str:
    small = next((one for one in found["smallest"] if one["verdict"] == "lossy"), {})
    cells = [
        found["name"],
        pinned(found),
        found["rule"],
        WORDS[found["verdict"]] + (", by design" if found["defects"] and by_design(found) else ""),
        small.get("first token", ""),
        small.get("distance", ""),
        small.get("case", ""),
    ]
    return "| " + " | ".join(cells) + " |"


def _details(found: Found) -> str:
    lines = [f"\n## {found['name']}\n", f"`{found['function']}`, {pinned(found)}, judged on {found['judged']}.\n"]
    for one in found["smallest"]:
        what = one.get("reason") or f"distance {one['distance']}, first token {one['first token']}"
        lines.append(f"- {WORDS[one['verdict']]} at {one['case']}: {what}.")
    open_ = [one for one in found["cases"] if one["verdict"] == "undecided"]
    if open_:
        lines.append(
            f"- undecided at {len(open_)} of {len(found['cases'])} cases, first at {open_[0]['case']}: {open_[0]['reason']}."
        )
    if found.get("grid"):
        lines.append(
            f"- Its uniforms are multiplied, and so gone through one by one as k/2^{found['grid']}: distances are those on that grid, "
            "and the verdict forgives what it can be off by."
        )
    lines += [f"- Why: {one['cause']}" for one in found["defects"]]
    edits = [edit for one in found["defects"] for edit in one["mend"]]
    if edits:
        rest = found["mended"]["cases"]
        said = (
            "With these places changed the same code is lossless on all cases"
            if not rest
            else (
                f"With these places changed it is left {', '.join(sorted({one['verdict'] for one in rest}))} at {len(rest)} of "
                f"{len(found['cases'])} cases, first at {rest[0]['case']}"
            )
        )
        lines += ["", f"{said}:", "", "```"]
        lines += [f"{old.strip()}\n    => {new.strip()}" for old, new in edits]
        lines += ["```"]
    return "\n".join(lines) + "\n"
