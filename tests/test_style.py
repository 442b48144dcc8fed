"""Rules for the style of code that ruff does not check.

Each test collects the places "FILE:LINE" that break its rule, and expects none.
"""

import ast
import re

import pytest

from tests.support.source_files import (
    ALL_FOLDERS,
    PACKAGES,
    parsed_sources,
    sources,
)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def unpacked(node):
    """Returns the expressions that a node unpacks with * or **."""
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, ast.keyword) and node.arg is None:
        return [node.value]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [value for key, value in pairs if key is None]
    return []


def test_no_literal_is_unpacked_where_it_stands():
    """f(*(a, b)) is f(a, b), and {**{"a": b}} is {"a": b}."""
    wrong = [
        source.place(value)
        for source in parsed_sources(*ALL_FOLDERS)
        for node in ast.walk(source.tree)
        for value in unpacked(node)
        if isinstance(value, (ast.Tuple, ast.List, ast.Dict))
    ]
    assert wrong == []


def is_fixture(node):
    """Returns whether a node of a syntax tree is a fixture of pytest."""
    return isinstance(node, ast.FunctionDef) and any(
        "pytest.fixture" in ast.unparse(decorator)
        for decorator in node.decorator_list
    )


def test_each_test_file_and_each_fixture_says_what_it_is():
    """The first line is what `pytest --fixtures` and a reader see."""
    silent = []
    for path in sources("tests"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if "testdata" not in path.parts:
            described = [tree, *filter(is_fixture, ast.walk(tree))]
            silent += [
                f"{path}: {getattr(node, 'name', 'the file')}"
                for node in described
                if not ast.get_docstring(node)
            ]
    assert silent == []


def private_definitions(tree):
    """Yields the private classes and functions of a module or class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from private_definitions(node)
        is_definition = isinstance(node, (ast.ClassDef, *FUNCTIONS))
        if is_definition and re.match("_(?!_)", node.name):
            yield node


def is_short_function(node):
    """Returns whether a definition is a function of at most 15 lines."""
    num_lines = node.end_lineno - node.body[0].lineno + 1
    return isinstance(node, FUNCTIONS) and num_lines <= 15


def test_private_classes_and_long_private_functions_say_what_they_do():
    silent = [
        source.place(node)
        for source in parsed_sources(*ALL_FOLDERS)
        for node in private_definitions(source.tree)
        if not is_short_function(node) and not ast.get_docstring(node)
    ]
    assert silent == []


def has_comment_above(node, lines):
    """Returns whether a comment stands above a definition."""
    places = [node, *node.decorator_list]
    first = min(place.lineno for place in places)
    return lines[first - 2].lstrip().startswith("#")


def test_what_a_function_does_is_not_a_comment_above_it():
    """A docstring is what editors and `help` show."""
    wrong = []
    for source in parsed_sources(*ALL_FOLDERS):
        lines = source.text.splitlines()
        wrong += [
            source.place(node)
            for node in private_definitions(source.tree)
            if has_comment_above(node, lines)
        ]
    assert wrong == []


def body_length(node):
    """Returns the number of lines of a function's body, but its docstring."""
    first = node.body[0]
    has_docstring = ast.get_docstring(node) is not None
    start = first.end_lineno + 1 if has_docstring else first.lineno
    return node.end_lineno - start + 1


def test_functions_have_at_most_60_lines():
    """Nested functions count as a part of their function, too."""
    too_long = [
        source.place(node)
        for source in parsed_sources(*PACKAGES, "tools")
        for node in ast.walk(source.tree)
        if isinstance(node, FUNCTIONS) and body_length(node) > 60
    ]
    assert too_long == []


def test_the_main_of_a_script_is_a_short_list_of_its_steps():
    too_long = [
        source.place(node)
        for source in parsed_sources("tools")
        for node in source.tree.body
        if isinstance(node, ast.FunctionDef)
        and node.name == "main"
        and node.end_lineno - node.lineno + 1 > 25
    ]
    assert too_long == []


@pytest.mark.parametrize("folder", ALL_FOLDERS)
def test_the_rules_find_the_sources_of_a_folder(folder):
    """Otherwise, every other test here would pass."""
    assert sources(folder)
