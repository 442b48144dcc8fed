"""What may stand in one place only, read from the source."""

import ast
import re

from model_folders import kinds
from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    imported,
    parsed_sources,
)

FOLDERS = (*PACKAGES, "tools")
KIND_NAMES = {
    *kinds.KIND_OF_CLASS,
    *kinds.CLASS_OF_ARCHITECTURE,
}


def test_only_the_command_line_uses_absl_flags():
    """Everything else has fields of a dataclass. Help and `run` read them."""
    users = {
        str(source.path.parent.relative_to(ROOT))
        for source in parsed_sources(*FOLDERS)
        if "absl.flags" in imported(source.path)
    }
    assert users == {"command_line"}


def test_json_is_read_in_one_place():
    """Whatever is in a file is then a value or an error of one line."""
    readers = set()
    for source in parsed_sources(*FOLDERS):
        # Not what turns this project's own tuples into lists.
        text = source.text.replace("json.loads(json.dumps(", "")
        if re.search(r"\bjson\.loads?\b|\bJSONDecoder\b", text):
            readers.add(str(source.path.relative_to(ROOT)))
    assert readers == {"files/json_files.py"}


def test_only_one_table_names_the_classes_of_models():
    """Other modules look up what depends on the kind of a model."""
    wrong = [
        source.place(node)
        for source in parsed_sources(*FOLDERS)
        if source.path != ROOT / "model_folders/kinds.py"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and node.value in KIND_NAMES
    ]
    check_none(wrong, "Look the class up in model_folders/kinds.py:")
