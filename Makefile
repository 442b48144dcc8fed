# The two commands of the README. `.venv` is made once and installed into
# again only when a requirements file has changed.
PYTHON ?= python3

.PHONY: demo test lint
.DELETE_ON_ERROR:

demo: .venv/installed
	.venv/bin/python samples/demo.py

test: .venv/installed-dev
	.venv/bin/python -m pytest

lint: .venv/installed-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: requirements.txt | .venv/bin/python
	.venv/bin/python -m pip install -q -r requirements.txt
	touch $@

.venv/installed-dev: requirements-dev.txt requirements.txt | .venv/bin/python
	.venv/bin/python -m pip install -q -r requirements-dev.txt
	touch $@ .venv/installed
