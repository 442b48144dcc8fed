"""Tables of reviews, and predict.py on them with the classifier."""

import contextlib
import functools
import gzip
import shutil

import pytest

import predict as script
from options.parsed_command import ParsedCommand
from serving.predict.predict_config import PredictConfig

NUM_REVIEWS = 150


@pytest.fixture(scope="session")
def reviews():
    """Texts of the tables."""
    return [
        f"The boat {'of the sea ' * (i % 5)}{i}." for i in range(NUM_REVIEWS)
    ]


@pytest.fixture(scope="session")
def tables_of_reviews(reviews, tmp_path_factory):
    """Folder with tables of the same texts, which no test changes."""
    folder = tmp_path_factory.mktemp("tables")
    lines = [f"{i};{text}\n" for i, text in enumerate(reviews)]
    (folder / "in.csv").write_text("id;review\n" + "".join(lines))
    for name, part in (("1.csv", lines[:70]), ("2.csv", lines[70:])):
        (folder / name).write_text("id;review\n" + "".join(part))
    text = "\n".join(reviews)
    (folder / "in.txt.gz").write_bytes(gzip.compress(text.encode()))
    return folder


@pytest.fixture(scope="session")
def classify_in(export_folders):
    """(folder, **flags) -> runs predict.py there, in this process."""

    def classify(folder, **flags):
        defaults = {
            "text_column": "review",
            "batch_size": 4,
            "model": str(export_folders["classifier"]),
        }
        with contextlib.chdir(folder):
            config = PredictConfig.from_values(**defaults | flags)
            return script.main(ParsedCommand(config))

    return classify


@pytest.fixture
def work_folder(tables_of_reviews, tmp_path):
    """A copy of `tables_of_reviews` for one test, in which `classify` runs."""
    return shutil.copytree(tables_of_reviews, tmp_path / "tables")


@pytest.fixture
def classify(work_folder, classify_in):
    """(**flags) -> runs predict.py with the classifier in `work_folder`."""
    return functools.partial(classify_in, work_folder)
