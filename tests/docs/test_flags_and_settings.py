"""The way of a flag to model.json, as docs/architecture.md shows it."""

import functools
import json
import operator
import re

import pytest

from model_folders.model_json import (
    head_settings_of,
    read_model_json,
    training_settings_of,
)
from tests.support.paths import ROOT
from training.config.classifier_config import ClassifierConfig


@pytest.fixture(scope="module")
def section():
    """The part of the page with both tables."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    return page.split("\n### From a flag to a file\n")[1].split("\n### ")[0]


def keys_of(entries):
    """Returns the keys that lead to the value in {key: {key: value}}."""
    keys = []
    while isinstance(entries, dict):
        [(key, entries)] = entries.items()
        keys.append(key)
    return keys


def test_a_flag_is_recorded_where_the_page_shows_it(section, classified):
    option = re.search(r"`config\.([\w.]+)`", section)[1]
    config = ClassifierConfig.from_values(
        data_dir="glue", output_dir="run", doc_stride=64
    )
    assert operator.attrgetter(option)(config) == 64
    contents = read_model_json(classified.folder / "run")
    records = re.findall(r"^\| `(\".*)` \|", section, re.M)
    assert len(records) == 2
    for record in records:
        keys = keys_of(json.loads(f"{{{record}}}"))
        # The run of the fixture leaves the flag at its default.
        assert functools.reduce(operator.getitem, keys, contents) == 0


def test_settings_have_the_keys_that_the_page_names(section, classified):
    contents = read_model_json(classified.folder / "run")
    settings = {
        "head_settings": head_settings_of(contents),
        "training_settings": training_settings_of(contents).to_entry(),
    }
    row = re.compile(r"^\| `(\w+)` \|.*\| `([\w.]+)` \|$", re.M)
    keys_of_settings = dict(row.findall(section))
    assert keys_of_settings.keys() == settings.keys()
    for name, keys in keys_of_settings.items():
        entry = functools.reduce(operator.getitem, keys.split("."), contents)
        assert entry == settings[name]
