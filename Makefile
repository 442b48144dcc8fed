# The two commands of the README, and those of docs/contributing.md. An environment
# is made once and installed into again only when its requirements change.
PYTHON ?= python3

.PHONY: demo test test-slow lint check docs bench bench-optimum
.DELETE_ON_ERROR:

demo: .venv/installed
	.venv/bin/python examples/demo.py

test: .venv/installed-dev
	.venv/bin/python -m pytest -n auto --maxprocesses=4

# Servers, kills and resumes, several processes or devices that train together,
# memory, KerasHub's own outputs, and quick tests on further models.
test-slow: .venv/installed-dev
	.venv/bin/python -m pytest -n auto --maxprocesses=4 -m slow

lint: .venv/installed-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

# What a machine finds in the source and the pages: see docs/contributing.md.
check: lint
	.venv/bin/python -m pytest tests/source tests/docs/test_pages.py

# The site goes to output/site; a broken link or a warning is an error.
docs: .venv-docs/installed
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build -f .mkdocs.yml --strict --quiet

# With data: make bench MINILM_DIR=... MRPC_DIR=... SQUAD_FILE=...
bench: .venv-bench/installed
	.venv-bench/bin/python benchmarks/model_benchmark.py \
	  $(if $(MINILM_DIR),--minilm_dir=$(MINILM_DIR)) \
	  $(if $(MRPC_DIR),--mrpc_dir=$(MRPC_DIR)) \
	  $(if $(SQUAD_FILE),--squad_file=$(SQUAD_FILE)) $(BENCH_FLAGS)

# Beside optimum: make bench-optimum MINILM_DIR=... MRPC_DIR=...
bench-optimum: .venv-bench-optimum/installed
	.venv-bench-optimum/bin/python benchmarks/model_benchmark.py \
	  --rows='pair*,bulk*' --minilm_dir=$(MINILM_DIR) \
	  --mrpc_dir=$(MRPC_DIR) $(BENCH_FLAGS)

RUNTIMES = requirements/litert.txt requirements/onnx.txt

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: requirements.txt | .venv/bin/python
	.venv/bin/python -m pip install -q -r requirements.txt
	touch $@

.venv/installed-dev: requirements/dev.txt requirements.txt $(RUNTIMES) | \
  .venv/bin/python
	.venv/bin/python -m pip install -q -r requirements.txt -r $< \
	  $(RUNTIMES:%=-r %)
	touch $@ .venv/installed

.venv-docs/installed: requirements/docs.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install -q -r $<
	touch $@

.venv-bench/installed: requirements/bench.txt requirements.txt $(RUNTIMES)
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install -q -r requirements.txt -r $< \
	  $(RUNTIMES:%=-r %)
	touch $@

.venv-bench-optimum/installed: requirements/bench_optimum.txt \
  requirements.txt $(RUNTIMES)
	$(PYTHON) -m venv .venv-bench-optimum
	.venv-bench-optimum/bin/python -m pip install -q -r requirements.txt \
	  -r $< $(RUNTIMES:%=-r %)
	touch $@
