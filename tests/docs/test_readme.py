"""README.md's first command, on a tiny model for one epoch.

It is the one command that most people need, so this test is not slow.
tests/scripts/test_run_classifier_data_file.py checks more of what it leaves.
"""

import re

import serving
from tests.support import script_runner
from tests.support.paths import ROOT
from tests.support.source_files import blocks

PAGE = (ROOT / "README.md").read_text(encoding="utf-8")


def hide_numbers(text):
    """Returns a text with N in place of times and scores."""
    return re.sub(r"\d[\d:.]*", "N", text)


def test_one_table_becomes_a_model_that_answers(model_flags, tmp_path):
    command = blocks(PAGE, "bash")[0].replace("\\\n", " ")
    _, script, arguments = command.split(maxsplit=2)
    flags = script_runner.split_flags(arguments)
    table = ROOT / flags["data_file"]
    changed = {"data_file": table, "num_train_epochs": 1}
    done = script_runner.run(script, tmp_path, **flags | model_flags | changed)
    shown = hide_numbers(blocks(PAGE, "text")[0])
    ending = hide_numbers(done.check().stderr.split(" Done in ")[1])
    # The page leaves out the predictions and how to make more of them.
    lines = iter(f"Done in {ending}".splitlines())
    assert all(line in lines for line in shown.splitlines()), ending
    for name in re.findall(r"output/[\w./]+", shown):
        assert (tmp_path / name).exists(), name
    labels = {line.split(",")[1] for line in table.read_text().splitlines()}
    bert = serving.load(tmp_path / "output/topics_model")
    reply = bert.classify("The Long Bell is an inn near the harbour.")
    assert {*reply["probabilities"]} == labels - {"label"}
