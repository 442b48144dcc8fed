"""Rules for the style of code that ruff does not check."""

import ast
import itertools
import re

from tests.support.golden import ROOT
from tests.support.source_files import ALL_FOLDERS, PACKAGES, sources


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
    literals = (ast.Tuple, ast.List, ast.Dict)
    paths = [*ROOT.glob("*.py"), *itertools.chain(*map(sources, ALL_FOLDERS))]
    lines = [
        f"{path.relative_to(ROOT)}:{value.lineno}"
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for value in unpacked(node)
        if isinstance(value, literals)
    ]
    assert lines == []


def is_fixture(node):
    """Returns whether a node of a syntax tree is a fixture of pytest."""
    return isinstance(node, ast.FunctionDef) and any(
        "pytest.fixture" in ast.unparse(decorator)
        for decorator in node.decorator_list
    )


def test_each_test_file_and_each_fixture_says_what_it_is():
    """The first line is what `pytest --fixtures` and a reader see."""
    for path in sources("tests"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        described = [tree, *filter(is_fixture, ast.walk(tree))]
        names = [
            getattr(node, "name", path.name)
            for node in described
            if not ast.get_docstring(node)
        ]
        assert "testdata" in path.parts or not names, f"{path}: {names}"


def private_definitions(tree):
    """Yields the private classes and functions of a module or class."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from private_definitions(node)
        is_definition = isinstance(node, (ast.ClassDef, *functions))
        if is_definition and re.match("_(?!_)", node.name):
            yield node


def test_private_classes_and_long_private_functions_say_what_they_do():
    silent = []
    paths = [*ROOT.glob("*.py"), *itertools.chain(*map(sources, ALL_FOLDERS))]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for node in private_definitions(ast.parse(text)):
            num_lines = node.end_lineno - node.body[0].lineno + 1
            is_short = num_lines <= 15 and not isinstance(node, ast.ClassDef)
            if not is_short and not ast.get_docstring(node):
                silent.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert silent == []


def test_what_a_function_does_is_not_a_comment_above_it():
    """A docstring is what editors and `help` show."""
    wrong = []
    paths = [*ROOT.glob("*.py"), *itertools.chain(*map(sources, ALL_FOLDERS))]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in private_definitions(ast.parse(text)):
            places = [node, *node.decorator_list]
            above = lines[min(place.lineno for place in places) - 2]
            if above.lstrip().startswith("#"):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert wrong == []


def body_length(node):
    """Returns the number of lines of a function's body, but its docstring."""
    first = node.body[0]
    has_docstring = ast.get_docstring(node) is not None
    start = first.end_lineno + 1 if has_docstring else first.lineno
    return node.end_lineno - start + 1


def test_functions_have_at_most_60_lines():
    """Nested functions count as a part of their function, too."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    folders = map(sources, (*PACKAGES, "tools"))
    paths = [*ROOT.glob("*.py"), *itertools.chain(*folders)]
    lengths = {
        f"{path.relative_to(ROOT)}:{node.lineno}": body_length(node)
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, functions)
    }
    assert len(lengths) > 1000
    assert [place for place in lengths if lengths[place] > 60] == []


def test_the_main_of_a_script_is_a_short_list_of_its_steps():
    lengths = {
        path.name: node.end_lineno - node.lineno + 1
        for path in (*ROOT.glob("*.py"), *sources("tools"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == "main"
    }
    assert len(lengths) > 10
    assert max(lengths.values()) <= 25, lengths
