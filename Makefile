# `make report` and `make test` do all the set-up on a fresh machine; `make help` lists the rest.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# Tests and audits start hundreds of processes; each would compile the library anew where bytecode is not kept.
unexport PYTHONDONTWRITEBYTECODE
PIP = .venv/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: help field whole-engines report test test-all first-tests all-tests test-engines test-browser formal rocq lint types soundness bench docs clean

help:
	@echo 'make report   set up, run the main job on the embedded default, and say where the page is'
	@echo 'make test     set up, then linters, and types beside the first tests, 5 minutes'
	@echo 'make test-all  the same with every test, 15 minutes'
	@echo 'make test-engines  kernels of vLLM and SGLang in an environment on top of that of the tests, which downloads 300 MB'
	@echo 'make formal   the theorems for every vocabulary by Rocq, which is installed where that can be; a minute'
	@echo 'make test-browser  the report in headless Chromium, with mouse and keyboard'
	@echo 'make mutants   set up, then wrong versions of the library against its tests, an hour or more'
	@echo 'make soundness  set up, then random verifiers against an independent judge, an hour'
	@echo 'make field    public samplers out of the package index against the target, a quarter of an hour; a run that is stopped goes on'
	@echo 'make whole-engines  whole engines, each installed in an environment of its own, against their own weights, 15 minutes'
	@echo 'make bench    set up, then one table of ratios'
	@echo 'make docs     set up, then the book, and say where it is'
	@echo 'make clean    remove what was made: .venv, out, caches'

report: .venv/library
	.venv/bin/spec-math report

# The first tier: each rule once in every form, each command once, the controls of every verdict, and the house.
test: .venv/tests lint
	$(MAKE) --no-print-directory --jobs 2 types first-tests

first-tests: .venv/tests
	.venv/bin/python -m pytest $(wildcard proofs_tests/test_*.py) proofs_tests/essentials

# Types take a minute of one core: they are checked beside the tests, and either's failure is that of the whole.
test-all: .venv/tests lint
	$(MAKE) --no-print-directory --jobs 2 types all-tests

all-tests: .venv/tests
	.venv/bin/python -m pytest

lint: .venv/tests
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types: .venv/tests
	.venv/bin/pyright

# Rocq compiles proofs_tests/formal/*.v and says what each theorem assumes: nothing, or the check fails.
formal: rocq
	"$(PYTHON)" -m proofs_tests.formal.check

# Debian 12 has the versions that are needed; where they cannot be installed, one line says which.
rocq:
	@"$(PYTHON)" -m proofs_tests.formal.check --ready >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
		coq libcoq-mathcomp-algebra >/dev/null; } || true
	@"$(PYTHON)" -m proofs_tests.formal.check --ready

# Needs Debian's packages chromium and chromium-driver; without them the tests are skipped and say so.
test-browser: .venv/tests
	$(PIP) --editable '.[browser]'
	.venv/bin/python -m pytest -n 0 proofs_tests/render/test_browser.py

# Half an hour or more a floor on two cores; `make mutants FLOOR=token_level` runs one.
mutants: .venv/tests
	$(PIP) --editable '.[mutants]'
	.venv/bin/python -m proofs_tests.mutants $(addprefix --floor ,$(FLOOR))

# A million programs and a hundred thousand functions, in pieces that are kept in out/soundness: what is stopped goes on.
soundness: .venv/tests
	.venv/bin/python -m proofs_tests.soundness

# Archives are downloaded, pinned by hash, and not installed; what was judged today is not judged again.
field: .venv/tests
	OMP_NUM_THREADS=1 .venv/bin/python -m spec_math.field $(ENGINES)

bench: .venv/tests
	.venv/bin/python -m benchmarks

whole-engines: .venv/tests
	.venv/bin/python -m benchmarks.whole_engines $(ENGINES)

docs: .venv/docs
	.venv/bin/python -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
	@echo 'the book is docs/_build/html/index.html'

.venv/library: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo 'Python 3.11 or later is needed and was not found'; exit 1; }
	test -x .venv/bin/python || "$(PYTHON)" -m venv .venv
	$(PIP) --editable .
	touch $@

# torch and transformers stay extras: where the pinned versions cannot be had, their tests are skipped and say so. One
# installation for all, without bytecode, which Python makes of the files that are imported: of most never.
.venv/tests: .venv/library
	$(PIP) --no-compile --editable '.[test,torch,transformers]' || $(MAKE) --no-print-directory installed-apart
	touch $@

.PHONY: installed-apart
installed-apart: .venv/library
	$(PIP) --editable '.[test]'
	$(PIP) --editable '.[torch]' || echo 'torch 2.13.0 cannot be installed here: its tests are skipped'
	$(PIP) --editable '.[transformers]' || echo 'transformers 5.23.0 cannot be installed here: its tests are skipped'

.venv/docs: .venv/library
	$(PIP) --editable '.[docs]'
	touch $@

# Other engines' kernels from their published sources, and what runs them, in an environment on top of that of the
# tests: triton is 190 MB. vLLM's archive is built for no device, which compiles nothing; only single files of both are
# unpacked.
test-engines: .venv-engines/engines
	TRITON_INTERPRET=1 .venv-engines/bin/python -m pytest -q -p no:cacheprovider --durations=5 \
		$(addprefix proofs_tests/,field/test_vllm.py field/test_sglang.py field/test_sglang_tree.py \
		field/test_lossy_rules.py field/test_interpreter.py field/test_restated_rules.py)

ENGINES_PIP = .venv-engines/bin/python -m pip --disable-pip-version-check
VLLM_FILES = vllm/v1/sample/rejection_sampler.py vllm/v1/worker/gpu/spec_decode/rejection_sampler_utils.py \
	vllm/v1/worker/gpu/sample/gumbel.py vllm/v1/spec_decode/fly.py
LLAMA_FILES = common include src ggml/include examples/speculative
SGLANG_FILES = ops/speculative/reject_sampling.py jit/include/sgl_kernel/speculative/sampling.cuh

.venv-engines/engines: constraints-engines.txt .venv/tests
	rm -rf .venv-engines/engines .venv-engines/engines.new .venv-engines/downloads
	test -x .venv-engines/bin/python || .venv/bin/python -m venv .venv-engines
	.venv/bin/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> "$$(.venv-engines/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth"
	$(ENGINES_PIP) install --quiet --constraint constraints.txt torch
	$(ENGINES_PIP) install --quiet --constraint constraints-engines.txt --no-deps triton
	$(ENGINES_PIP) install --quiet --constraint constraints-engines.txt \
		setuptools setuptools-scm setuptools-rust wheel cmake packaging ninja jinja2 numpy
	VLLM_VERSION_OVERRIDE=$(call pinned,vllm) VLLM_TARGET_DEVICE=empty $(ENGINES_PIP) download --quiet --no-deps \
		--no-build-isolation --no-binary vllm --dest .venv-engines/downloads vllm==$(call pinned,vllm)
	$(ENGINES_PIP) download --quiet --no-deps --dest .venv-engines/downloads sglang==$(call pinned,sglang)
	$(ENGINES_PIP) download --quiet --no-deps --no-binary llama-cpp-python --dest .venv-engines/downloads \
		llama-cpp-python==$(call pinned,llama-cpp-python)
	mkdir -p $@.new
	tar -xzf .venv-engines/downloads/vllm-*.tar.gz -C $@.new --strip-components=1 \
		$(addprefix vllm-$(call pinned,vllm)/,$(VLLM_FILES))
	tar -xzf .venv-engines/downloads/llama_cpp_python-*.tar.gz -C $@.new --strip-components=2 \
		$(addprefix llama_cpp_python-$(call pinned,llama-cpp-python)/vendor/llama.cpp/,$(LLAMA_FILES))
	.venv-engines/bin/python -c 'import glob, zipfile; \
		wheel = zipfile.ZipFile(glob.glob(".venv-engines/downloads/sglang-*.whl")[0]); \
		[wheel.extract("sglang/kernels/" + name, "$@.new") for name in "$(SGLANG_FILES)".split()]'
	mv $@.new $@

pinned = $(shell sed -n 's/^$(1)==//p' constraints-engines.txt)

clean:
	rm -rf .venv .venv-engines out build docs/_build docs/reference .pytest_cache .ruff_cache .hypothesis
