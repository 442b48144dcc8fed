"""Rules of this project that ruff and mypy do not know.

The tests of this folder read the source, and run little of it. The docstring of
each rule says which mistake the rule prevents. A failure lists the places that
break a rule, and says what to do there. tests/docs/test_pages.py does the same
for the pages.
"""
