"""Rules for the style of code that ruff does not check.

A failure lists the places that break a rule, and says what to do there.
"""

import ast
import re

from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    parse_source,
    parsed_sources,
    sources,
)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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
        tree = parse_source(path).tree
        if "testdata" not in path.parts:
            described = [tree, *filter(is_fixture, ast.walk(tree))]
            silent += [
                f"{path}: {getattr(node, 'name', 'the file')}"
                for node in described
                if not ast.get_docstring(node)
            ]
    check_none(silent, "Say in a docstring what this is:")


# Keras documents this method: it returns the arguments of the constructor.
UNDOCUMENTED_OVERRIDES = {"get_config"}


def public_methods(tree):
    """Yields the public methods of the public classes of a module or class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_methods(node)
            yield from (
                method
                for method in node.body
                if isinstance(method, FUNCTIONS)
                and not method.name.startswith("_")
            )


def is_property_of_one_line(node):
    """Returns whether a function is a property whose name can say all."""
    is_property = any(
        ast.unparse(decorator) == "property"
        for decorator in node.decorator_list
    )
    return is_property and isinstance(node.body[0], ast.Return)


def is_overload(node):
    """Returns whether a function only states types, for a type checker."""
    return any(
        ast.unparse(decorator).endswith("overload")
        for decorator in node.decorator_list
    )


def test_public_methods_say_what_they_do():
    """Ruff's D102 would also demand it of overrides that repeat their base."""
    silent = [
        source.place(node)
        for source in parsed_sources(*PACKAGES, "tools")
        for node in public_methods(source.tree)
        if node.name not in UNDOCUMENTED_OVERRIDES
        and not is_overload(node)
        and not is_property_of_one_line(node)
        and not ast.get_docstring(node)
    ]
    check_none(silent, "Say in a docstring what this does:")


WAITS = re.compile(
    r"subprocess\.(run|call|check_\w+)|.*\.communicate|process\.(wait|join)"
)


def waits_forever(node):
    """Returns whether a node is a call that waits for a process to end."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    names = {keyword.arg for keyword in node.keywords}
    # The only argument of `wait` and `join` is the timeout.
    has_timeout = "timeout" in names or (
        node.args and called.endswith((".wait", ".join"))
    )
    return bool(WAITS.fullmatch(called)) and not has_timeout


def test_no_test_waits_for_a_process_forever():
    """A process that hangs should fail its test, not stop all tests."""
    wrong = [
        source.place(node)
        for source in parsed_sources("tests")
        for node in ast.walk(source.tree)
        if waits_forever(node)
    ]
    check_none(wrong, "Pass a timeout, such as TIMEOUT of waiting.py:")


def misplaced_imports(tree):
    """Yields the top imports that belong further up, or into another import."""
    modules = set()
    is_below_types = False
    for node in tree.body:
        if isinstance(node, ast.If):
            is_below_types |= ast.unparse(node.test) == "TYPE_CHECKING"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            # Ruff gives a renamed import a statement of its own.
            is_renamed = any(alias.asname for alias in node.names)
            module = None if is_renamed else getattr(node, "module", None)
            if is_below_types or module in modules:
                yield node
            modules.add(module or node)


def test_a_module_has_one_header_of_imports():
    """Two headers show that two modules were pasted together."""
    misplaced = [
        source.place(node)
        for source in parsed_sources(*PACKAGES, "tools")
        for node in misplaced_imports(source.tree)
    ]
    check_none(
        misplaced,
        "Import each module once, above `if TYPE_CHECKING`, and look whether "
        "the file has two subjects:",
    )


def late_imports(tree):
    """Yields (first line, last line) of each import inside a function."""
    for function in ast.walk(tree):
        if isinstance(function, FUNCTIONS):
            for node in ast.walk(function):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    yield node.lineno, node.end_lineno


def test_imports_inside_functions_say_why():
    """They hide from a reader of the first lines what a module needs."""
    unexplained = []
    for source in parsed_sources(*PACKAGES, "tools"):
        lines = ["", *source.text.splitlines()]
        imports = {*late_imports(source.tree)}
        first_of_last = {last: first for first, last in imports}
        for first, _ in imports:
            above = first - 1
            # One comment may explain several imports.
            while above in first_of_last:
                above = first_of_last[above] - 1
            if not lines[above].strip().startswith("# "):
                unexplained.append(f"{source.path.relative_to(ROOT)}:{first}")
    check_none(
        unexplained, "Import at the top, or say in a comment above why not:"
    )
