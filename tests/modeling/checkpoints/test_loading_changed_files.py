"""Changed headers, shapes, names and values end in a load or in one line."""

import json

import pytest

from tests.support import fresh_process
from tests.support.weights import weights_fuzz

SEED = 57
CASES = 2000
# A process keeps a part of the memory of each model that it created.
BATCH = 500


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders of models in every format, to be changed."""
    place = tmp_path_factory.mktemp("changed") / "models"
    place.mkdir()
    weights_fuzz.create_folders(place)
    return place


def run_cases(models, first, last):
    """Returns the lines that a process prints, and its status and errors."""
    done = fresh_process.run(
        "-m",
        "tests.support.weights.weights_fuzz",
        str(models),
        str(SEED),
        str(first),
        str(last),
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_changed_files_are_loaded_or_refused_in_one_line(models, first):
    lines, done = run_cases(models, first, first + BATCH)
    # A crash ends the process within a case, and so does one that hangs.
    assert done.status == 0, (lines[-1:], done.stderr[-2000:])
    ended = [line for line in lines if "name" in line]
    assert len(ended) == BATCH
    assert [line for line in ended if line["wrong"]] == []
    assert max(line["memory"] for line in ended) < weights_fuzz.MEMORY


def test_unchanged_files_are_loaded_by_every_function(models):
    folders = [path for path in models.iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        for load in weights_fuzz.LOADERS:
            load(folder)
