"""Where the recordings of the original are, and the cases in them.

A golden folder holds `models/`, `pretraining_data/`, `tokenization/`,
`classifier/`, `squad/`, `squad_scoring/` and `extract_features/`, each of
them optional; its README.md says what is in them. Tests take their cases
from what they find, so any folder of that layout can be used.
"""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def folders():
    """Returns the golden folders to read, the shipped one last."""
    found = []
    if os.environ.get("BERT_GOLDEN_DIR"):
        found.append(Path(os.environ["BERT_GOLDEN_DIR"]).resolve())
    elif (SHARED / "golden").is_dir():
        found.append(SHARED / "golden")
    return [*found, ROOT / "tests" / "testdata" / "golden"]


def label(folder):
    """Returns a short name of a golden folder for test ids."""
    return "shipped" if "testdata" in folder.parts else folder.name


def paths(pattern):
    """Returns a pytest param for every path that matches, in every folder."""
    return [
        pytest.param(path, id=f"{label(folder)}/{path.relative_to(folder)}")
        for folder in folders()
        for path in sorted(folder.glob(pattern))
    ]


def cases(kind):
    """Returns a pytest param for every case of `kind`/cases.json.

    Each is the case's dict with `folder` added, the directory that its
    relative paths start from.
    """
    params = []
    for folder in folders():
        path = folder / kind / "cases.json"
        if not path.is_file():
            continue
        found = json.loads(path.read_text())
        for case in found if isinstance(found, list) else [found]:
            case["folder"] = path.parent
            name = case.get("name", kind)
            params.append(pytest.param(case, id=f"{label(folder)}/{name}"))
    return params


def shared(relative):
    """Returns a path in the shared data, or skips the test and says so."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"the shared data is not here: {relative}")
    return path
