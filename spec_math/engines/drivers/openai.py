"""Driver of an OpenAI-compatible server: openai.py PAIR URL [URL of the same weights without speculation].

It speaks the lines of `spec_math.engines.protocol`, and sends the requests of a batch at once, from threads.
"""

import json
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from _lines import characters_of, serve, told

NEUTRAL = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Sent where a request says nothing: a server's own defaults, or those of a generation_config.json, may be others."""


def sent(url: str, body: Any = None) -> Any:
    """Return what a server answers, as JSON; {"refused": why} where it says that the request is bad."""
    data, headers = body and json.dumps(body).encode(), {"Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=120) as reply:
            return json.loads(reply.read())
    except urllib.error.HTTPError as error:
        said = error.read().decode("utf-8", "replace")[:300]
        if error.code in (400, 422, 501):
            return {"refused": said}
        raise RuntimeError(f"{url} answered {error.code}: {said}") from None
    except (OSError, ValueError) as error:
        raise RuntimeError(f"{url} cannot be reached, or answered no JSON: {error}") from None


def answered(url: str, model: str, tokens_of: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one request; `tokens_of`: the characters, and whether the last is the end token."""
    (characters, end), options = tokens_of, dict(asked["options"])
    if "bad_words" in options:
        options["bad_words"] = ["".join(characters[token] for token in word) for word in options["bad_words"]]
    body = {"model": model, "prompt": "".join(characters[token] for token in asked["prompt"]), "logprobs": 1}
    body |= {"max_tokens": asked["number"], **NEUTRAL, **options}
    answer = sent(f"{url}/completions", body | ({} if asked["seed"] is None else {"seed": asked["seed"]}))
    if "refused" in answer:
        return answer
    try:
        choice = answer["choices"][0]
        given = choice.get("logprobs") or {}
        named = given.get("tokens") or ["?"]
        known = set(named) <= set(characters)
        tokens = [characters.index(one) for one in (named if known else choice["text"])]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise RuntimeError(f"{url} answered no text in the pair's characters: {str(answer)[:200]}") from None
    logprobs = given.get("token_logprobs") if known else None
    # A server leaves the end token out of its text.
    if choice.get("finish_reason") == "stop" and end and (not tokens or tokens[-1] != len(characters) - 1):
        tokens, logprobs = [*tokens, len(characters) - 1], None
    return {"tokens": tokens, "logprobs": logprobs if logprobs and None not in logprobs else None}


def main() -> None:
    """Read requests and write answers until the input ends."""
    tokens_of = characters_of(Path(sys.argv[1]))
    urls = [url.rstrip("/") for url in sys.argv[2:]]
    try:
        models = [sent(f"{url}/models")["data"][0]["id"] for url in urls]
        with ThreadPoolExecutor(16) as pool:

            def asked(requests: list[dict[str, Any]], lookahead: int) -> list[dict[str, Any]]:
                at = 1 if lookahead == 0 else 0
                return list(pool.map(partial(answered, urls[at], models[at], tokens_of), requests))

            about = {"engine": urls[0], "plain": len(urls) > 1, "adjustable": False, "logprobs": "either"}
            serve(about, asked)
    except (RuntimeError, LookupError, TypeError) as error:
        told({"error": str(error)})


if __name__ == "__main__":
    main()
