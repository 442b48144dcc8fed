"""How tests are named and listed, and that none hangs."""

import ast
import re

from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    parsed_sources,
    sources,
)


def test_the_page_of_the_helpers_of_tests_lists_each_once():
    """Else, nobody would find a helper, and write it again."""
    folder = ROOT / "tests/support"
    page = (folder / "README.md").read_text(encoding="utf-8")
    compared = re.findall(r"\| `([\w/]+\.py)` \|", page)
    listed = re.findall(r"^- `([\w/]+\.py)`: ", page, re.M)
    files = [str(path.relative_to(folder)) for path in sources("tests/support")]
    assert sorted(compared + listed) == sorted(files)


def mirrored_tests():
    """Returns {file of tests: the folder whose modules it tests}."""
    return {
        path: ROOT / path.parent.relative_to(ROOT / "tests")
        for package in {*PACKAGES, "tools"}
        for path in (ROOT / "tests" / package).rglob("test_*.py")
    }


def test_a_file_of_tests_has_the_name_of_a_module():
    """test_MODULE.py or test_MODULE_ASPECT.py lies where MODULE.py does.

    So who edits data/tables/rows.py finds tests/data/tables/test_rows.py.
    """
    strange = []
    for path, folder in mirrored_tests().items():
        modules = {module.stem for module in folder.glob("*.py")}
        words = path.stem.removeprefix("test_").split("_")
        names = {"_".join(words[:end]) for end in range(1, len(words) + 1)}
        if not names & modules:
            strange.append(str(path.relative_to(ROOT)))
    check_none(
        strange, "Name the file test_MODULE.py or test_MODULE_ASPECT.py:"
    )


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
    """Else, one process that hangs would stop all tests."""
    wrong = [
        source.place(node)
        for source in parsed_sources("tests")
        for node in ast.walk(source.tree)
        if waits_forever(node)
    ]
    check_none(wrong, "Pass a timeout, such as TIMEOUT of waiting.py:")
