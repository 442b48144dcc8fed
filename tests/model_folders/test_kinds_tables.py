"""What each kind of models has in each table by the class of a model.

A new class fails here until each table has its entry, or until this file lists
the class as one without.
"""

import re

import pytest

from exporting.export_writer import CREATE_SIGNATURES_OF_CLASS
from model_folders.cards.example_calls import EXAMPLE_OF_CLASS
from model_folders.kinds import KIND_OF_CLASS, ModelClass
from serving.text_tasks.text_task_registry import TEXT_TASKS_OF_CLASS
from tests.support.paths import ROOT
from tools.conversion.convert_checkpoint_config import FLAG_OF_CLASS

# {name of a table: (the table, the classes that have no entry)}.
TABLES = {
    "KIND_OF_CLASS": (KIND_OF_CLASS, set()),
    # An embedder is exported and converted as its encoder.
    "CREATE_SIGNATURES_OF_CLASS": (
        CREATE_SIGNATURES_OF_CLASS,
        {ModelClass.EMBEDDER},
    ),
    "FLAG_OF_CLASS": (FLAG_OF_CLASS, {ModelClass.EMBEDDER}),
    # A multiple-choice model reads only ids.
    "TEXT_TASKS_OF_CLASS": (
        TEXT_TASKS_OF_CLASS,
        {ModelClass.EMBEDDER, ModelClass.MULTIPLE_CHOICE},
    ),
    "EXAMPLE_OF_CLASS": (EXAMPLE_OF_CLASS, {ModelClass.MULTIPLE_CHOICE}),
}


@pytest.mark.parametrize("name", TABLES)
def test_only_the_listed_classes_have_no_entry(name):
    table, classes_without_entry = TABLES[name]
    assert {*ModelClass} - {*table} == classes_without_entry


def test_onnx_has_a_head_for_each_class_that_is_exported():
    pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
    from exporting.onnx_writer import ADD_HEAD_OF_CLASS

    assert {*ADD_HEAD_OF_CLASS} == {*CREATE_SIGNATURES_OF_CLASS}


def test_the_page_lists_all_tables():
    page = (ROOT / "docs/adding_a_task.md").read_text(encoding="utf-8")
    section = page.split("\n### The tables of the classes\n")[1]
    listed = re.findall(r"^\| `(\w+_OF_CLASS)` \|", section, re.M)
    assert sorted(listed) == sorted([*TABLES, "ADD_HEAD_OF_CLASS"])
