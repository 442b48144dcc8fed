"""What may stand in one place only, read from the source."""

import ast
import itertools
import re

from model_folders import kinds
from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    imported,
    sources,
)


def test_only_the_command_line_uses_absl_flags():
    """Everything else has fields of a dataclass. Help and `run` read them."""
    paths = [*ROOT.glob("*.py"), *itertools.chain(*map(sources, PACKAGES))]
    users = [path.name for path in paths if "absl.flags" in imported(path)]
    assert sorted(set(users)) == [
        "arguments.py",
        "cli.py",
        "flag_parsing.py",
        "help_pages.py",
    ]


def test_json_is_read_in_one_place():
    """Whatever is in a file is then a value or an error of one line."""
    readers = set()
    folders = map(sources, (*PACKAGES, "tools"))
    for path in (*ROOT.glob("*.py"), *itertools.chain(*folders)):
        # Not what turns this project's own tuples into lists.
        text = path.read_text().replace("json.loads(json.dumps(", "")
        if re.search(r"\bjson\.loads?\b|\bJSONDecoder\b", text):
            readers.add(str(path.relative_to(ROOT)))
    assert readers == {"files/json_files.py"}


KIND_NAMES = {
    *kinds.KIND_OF_CLASS,
    *kinds.CLASS_OF_ARCHITECTURE,
}


def test_only_one_table_names_the_classes_of_models():
    """Other modules look up what depends on the kind of a model."""
    folders = map(sources, (*PACKAGES, "tools"))
    paths = [*ROOT.glob("*.py"), *itertools.chain(*folders)]
    paths.remove(ROOT / "model_folders/kinds.py")
    wrong = [
        f"{path}:{node.lineno}"
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in KIND_NAMES
    ]
    check_none(wrong, "Look the class up in model_folders/kinds.py:")
