"""Drivers as processes: what they answer is checked, what ends, hangs or answers nonsense is an error that says so."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.engines.stub_runs import hunt
from spec_math.engines.pair import Pair, PairShape, tables, write
from spec_math.engines.protocol import About, Driver, Recorded, Recorder, Request, about_of, answer_of, command_of
from spec_math.engines.stub import Stub, server

READY = 'print(\'{"engine": "script", "odd": 1}\', flush=True)\n'
ASKED = [Request((0,), 2)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return write(PairShape(size=16, seed=1), tmp_path_factory.mktemp("pair"))


def driver(script: str, patience: float = 20) -> Driver:
    return Driver([sys.executable, "-c", script], 4, patience)


def test_a_driver_says_what_it_is_and_answers_by_lines() -> None:
    answers = '{"answers": [{"tokens": [1, 2], "accepted": [0]}]}'
    with driver(READY + f"import sys\nfor line in sys.stdin: print({answers!r}, flush=True)") as engine:
        assert engine.about == About("script")
        for _ in range(3):
            assert engine.ask(ASKED, None)[0].tokens == (1, 2)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import sys; sys.exit('no such model')", "the driver ended: .*it wrote: no such model"),
        ("print('hello')", "the driver wrote 'hello.*no JSON object"),
        ('print(\'{"error": "server is down"}\')', "server is down"),
        ("import time; time.sleep(30)", "the driver was silent for 2 seconds"),
        (READY + "input(); print('[]')", "no JSON object"),
        (READY + "input(); print('{\"answers\": []}')", "did not answer 1 requests"),
        (READY + 'input(); print(\'{"answers": [{"tokens": [4]}]}\')', "token 4; tokens lie in 0..3"),
        (READY, "the driver ended"),
    ],
)
def test_what_ends_hangs_or_is_nonsense_is_said(script: str, said: str) -> None:
    with pytest.raises(ValueError, match=said), driver(script, 2 if "sleep" in script else 20) as engine:
        _ = engine.ask(ASKED, None)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("text", "an answer is an object with tokens"),
        ({"tokens": [1.5]}, "a list of indices"),
        ({"tokens": [True]}, "a list of indices"),
        ({"tokens": None}, "a list of indices"),
        ({"tokens": [1, 2, 3]}, "3 tokens; 2 were asked for"),
        ({"tokens": [1], "logprobs": [0.5, 0.5]}, "one number a token"),
        ({"tokens": [1], "accepted": ["a"]}, "a list of whole numbers"),
        ({"tokens": [-1]}, "token -1"),
    ],
)
def test_an_answer_is_checked(told: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _ = answer_of(told, Request((0,), 2), 4)


def test_a_refusal_is_an_answer() -> None:
    assert answer_of({"refused": "no min_p"}, Request((0,), 2), 4).refused == "no min_p"


def test_an_unknown_engine_is_named_with_those_that_there_are() -> None:
    named = "llama_cpp, mistralrs, openvino, transformers, vllm, stub, a driver's file"
    with pytest.raises(ValueError, match=f"there is no engine 'vlm': {named}"):
        _ = command_of("vlm", None, None, Path("pair"))


def test_recorded_texts_stand_for_the_engine(tmp_path: Path) -> None:
    made = tables(PairShape(size=8))
    recorder = Recorder(Stub(made), tmp_path / "texts.jsonl", {"seed": 0})
    asked = [Request((0, 1), 5, {"top_k": 3}, 7), Request((2,), 5, {}, None)]
    first, second = recorder.ask(asked, 3), recorder.ask(asked[:1], 0)
    again = Recorded(tmp_path / "texts.jsonl")
    assert (again.setting, again.about) == ({"seed": 0}, recorder.about)
    assert again.ask(asked, 3) == first
    with pytest.raises(ValueError, match="call 1 is another one"):
        _ = again.ask(asked, 0)
    assert again.ask(asked[:1], 0) == second
    with pytest.raises(ValueError, match="ends after 2 calls"):
        _ = again.ask(asked, 0)


@pytest.mark.parametrize("text", ["", "[]\n", '{"setting": {}}\n', "{\n"])
def test_a_file_without_recorded_texts_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text(text)
    with pytest.raises(ValueError, match="holds no recorded texts"):
        _ = Recorded(file)


@pytest.mark.parametrize("bug", ["none", "redraw", "stale_cache", "penalty_per_step"])
def test_a_bug_is_found_through_the_protocol_as_in_memory(pair: Pair, bug: str) -> None:
    """The same tokens, and so the same evidence: the stub's process is the stub."""
    assert pair.folder is not None
    with Driver(command_of(f"stub:{bug}", None, None, pair.folder), 16) as engine:
        through = hunt(engine, 1)
    assert through == hunt(Stub(pair, bug), 1)


@pytest.fixture
def http(pair: Pair) -> Iterator[Any]:
    """A function that serves the stub with a bug on a free port, and returns the address."""
    running: list[ThreadingHTTPServer] = []

    def serve(bug: str) -> str:
        served = server(Stub(pair, bug), pair.shape.characters, 0)
        running.append(served)
        threading.Thread(target=served.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{served.server_address[1]}/v1"

    yield serve
    for one in running:
        one.shutdown()
        one.server_close()


@pytest.mark.parametrize(
    ("bug", "question"),
    [
        ("redraw", "tokens do not have the exact distribution"),
        ("end_passed", "the text goes on after its end token"),
        ("draft_logprobs", "log-probabilities are not the target's"),
        ("seed_ignored", "a seed that is used again gives other texts"),
        ("none", ""),
    ],
)
def test_a_bug_is_found_over_http(pair: Pair, http: Any, bug: str, question: str) -> None:
    from spec_math.engines.report import told
    from spec_math.engines.study import EngineRequest, audit_engine, cases_of
    from spec_math.studies.arguments import no_progress

    assert pair.folder is not None
    with Driver(command_of("", http(bug), http("none"), pair.folder), 16) as engine:
        main = [case for case in cases_of(EngineRequest(samples=4000), engine.about) if case.name == "no options"]
        runs = audit_engine(engine, pair, main, (1e-6, 0), no_progress)
    assert [run.case.lookahead for run in runs] == [0, None]
    assert [bool(run.failures) for run in runs] == [False, bug != "none"]
    assert question in (told(runs[1]) if bug != "none" else "")


class Text(BaseHTTPRequestHandler):
    """A server that returns text alone, without its end token, and refuses seeds."""

    def do_GET(self) -> None:
        self.send({"data": [{"id": "text"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["prompt"] == "a":
            self.send({"error": "no"}, 400)
        elif asked["prompt"] == "b":
            self.send({"choices": [{"text": "Łódź"}]})
        elif asked["prompt"] == "c":
            self.send({"error": "busy"}, 503)
        else:
            self.send({"choices": [{"text": "abc", "finish_reason": "stop", "logprobs": None}]})

    def send(self, told: Any, status: int = 200) -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_server_of_texts_is_read_by_its_characters_and_its_errors_are_told(pair: Pair) -> None:
    assert pair.folder is not None
    served = ThreadingHTTPServer(("127.0.0.1", 0), Text)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    command = command_of("", f"http://127.0.0.1:{served.server_address[1]}/v1", None, pair.folder)
    try:
        with Driver(command, 16) as engine:
            assert not engine.about.plain
            answers = engine.ask([Request((4,), 8), Request((0,), 8)], None)
            assert answers[0].tokens == (0, 1, 2, 15)
            assert "no" in str(answers[1].refused)
            with pytest.raises(ValueError, match="no text in the pair's characters"):
                _ = engine.ask([Request((1,), 8)], None)
        with Driver(command, 16) as engine, pytest.raises(ValueError, match="answered 503"):
            _ = engine.ask([Request((2,), 8)], None)
    finally:
        served.shutdown()
        served.server_close()


def test_a_server_that_is_down_is_said_to_be(pair: Pair) -> None:
    assert pair.folder is not None
    with pytest.raises(ValueError, match=r"http://127.0.0.1:9/v1/models cannot be reached"):
        _ = Driver(command_of("", "http://127.0.0.1:9/v1", None, pair.folder), 16)


def test_counts_are_told_in_place_of_rounds() -> None:
    asked = Request((0,), 2)
    assert answer_of({"tokens": [1], "counts": [3, 1]}, asked, 4).counts == (3, 1)
    for wrong in ([1], [1, 2], "no", [3, -1]):
        with pytest.raises(ValueError, match=r"they are \[drafted, accepted\]"):
            answer_of({"tokens": [1], "counts": wrong}, asked, 4)
    assert answer_of({"failed": "it broke"}, asked, 4).failed == "it broke"
    with pytest.raises(ValueError, match="known options are"):
        about_of({"engine": "mine", "order": ["heat"]})
