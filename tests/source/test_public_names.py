"""`help` and docs/api.md list what the packages offer."""

import re
import subprocess
import sys

import pytest

import data.text
import modeling
import serving
from tests.support import fresh_process
from tests.support.paths import ROOT
from tests.support.waiting import TIMEOUT

PAGE = (ROOT / "docs/api.md").read_text("utf-8")


@pytest.mark.parametrize("package", [data.text, serving])
def test_help_describes_every_name(package):
    listed = re.findall(r"^ {0,4}(\w+): ", package.__doc__, re.MULTILINE)
    assert sorted(listed) == sorted(package.__all__)


def test_help_lists_every_name_of_modeling():
    """Of so many names, it repeats no docstrings."""
    _, section = modeling.__doc__.split("What users call")
    lists = re.findall(r"^ {4}[\w ]+: (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    names = re.findall(r"\w+", " ".join(lists))
    assert sorted(names) == sorted(modeling.__all__)


@pytest.mark.parametrize("package", [data.text, modeling, serving])
def test_the_page_describes_every_name(package):
    for name in package.__all__:
        value = getattr(package, name)
        is_loss = value.__module__ == "modeling.losses"
        entry = "modeling.losses" if is_loss else f"{package.__name__}.{name}"
        assert f"\n::: {entry}\n" in PAGE


def test_the_version_is_the_projects():
    assert modeling.__version__ == (ROOT / "VERSION").read_text().strip()


_LOAD = """
import sys
{imports}
model = keras.models.load_model(sys.argv[1])
print(type(model).__name__, model.loss.get_config())
"""


@pytest.mark.parametrize(
    "imports",
    [
        "import keras, modeling",
        "import modeling, keras",
        "from modeling.losses import SpanLoss\nimport keras",
    ],
)
def test_keras_loads_a_model_in_a_new_process(imports, tmp_path):
    from tests.support.models import SMALL

    model = modeling.BertClassifier(SMALL, 2)
    model.compile("adam", modeling.ClassifierLoss([1.0, 2.0]))
    model.save(file := tmp_path / "model.keras")
    code = _LOAD.format(imports=imports)
    done = subprocess.run(
        [sys.executable, "-c", code, file],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT,
    )
    expected = "BertClassifier {'class_weights': [1.0, 2.0]}\n"
    assert done.stdout == expected


def test_importing_modeling_imports_no_keras():
    code = "import modeling, sys; assert 'keras' not in sys.modules"
    fresh_process.run("-c", code).check()
