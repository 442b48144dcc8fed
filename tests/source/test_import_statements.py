"""How modules import each other, beside the directions.

test_import_directions.py checks which module may import which.
"""

import ast
import itertools

from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    files_of,
    imported,
    parse_source,
    parsed_sources,
    sources,
)


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
    """Else, two modules that were pasted together would pass for one."""
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
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    yield node.lineno, node.end_lineno


def test_imports_inside_functions_say_why():
    """Else, the first lines of a module would hide what it needs."""
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


# {file: modules that it names in strings, to import them}.
_NAMED_IN_STRINGS = {
    # Keras gets placeholders, which import a class when a `.keras` file names
    # it. The package itself imports none of them.
    "model_folders/saved_classes.py": {
        "data.text.preprocessor",
        "modeling.bert",
        "modeling.losses",
        "modeling.task_models",
    },
}


def modules_in_strings(path):
    """Returns the names of modules of this project that strings consist of."""
    texts = {
        node.value
        for node in ast.walk(parse_source(path).tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {
        text
        for text in texts
        if "." in text
        and all(map(str.isidentifier, text.split(".")))
        and files_of(text)
    }


def test_modules_are_named_in_strings_only_where_listed():
    """Else, an import would be hidden from test_import_directions.py.

    Those tests see the modules that a package imports under TYPE_CHECKING,
    besides naming them for dependencies/lazy.py.
    """
    named = {}
    for path in itertools.chain(*map(sources, PACKAGES)):
        if modules := modules_in_strings(path) - {*imported(path)}:
            named[str(path.relative_to(ROOT))] = modules
    assert named == _NAMED_IN_STRINGS
