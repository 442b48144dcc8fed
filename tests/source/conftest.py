"""Rules of this project that ruff and mypy do not know.

The tests of this folder read the source, and run little of it. Each holds a
decision about this project: which package is below which, what stands in one
place only, where a file of tests lies, and which names a docstring may use. A
linter checks one file without knowing the others, and without knowing the
decision.

A failure lists the places that break a rule, and says what to do there.
tests/docs/test_pages.py does the same for the pages.
"""
