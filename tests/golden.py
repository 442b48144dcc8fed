"""Where the recordings of the original are, and the cases in them.

A golden folder holds `models/`, `pretraining_data/`, `tokenization/`,
`classifier/`, `squad/`, `squad_scoring/` and `extract_features/`, each of
them optional; its README.md says what is in them. Tests take their cases
from what they find, so any folder of that layout can be used.
"""

import contextlib
import dataclasses
import filecmp
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Where more recordings are; beside it, in `data`, files of real tasks.
GOLDEN_DIR = os.environ.get("BERT_GOLDEN_DIR")
SHARED = Path(GOLDEN_DIR).resolve().parent if GOLDEN_DIR else ROOT / "none"


def folders():
    """Returns the golden folders to read, the shipped one last."""
    found = [Path(GOLDEN_DIR).resolve()] if GOLDEN_DIR else []
    return [*found, ROOT / "tests" / "testdata" / "golden"]


def label(folder):
    """Returns a short name of a golden folder for test ids."""
    return "shipped" if "testdata" in folder.parts else folder.name


def _new(folder: Path, inside: Path) -> bool:
    """Whether a folder in a golden folder is not in an earlier one as well."""
    files = [
        path.relative_to(folder) for path in inside.rglob("*") if path.is_file()
    ]
    earlier = itertools.takewhile(lambda each: each != folder, folders())
    return not any(
        filecmp.cmpfiles(folder, each, files, shallow=False)[0] == files
        for each in earlier
    )


def paths(pattern):
    """Returns a pytest param for every path that matches, in every folder.

    A recording that two folders have is read once.
    """
    return [
        pytest.param(path, id=f"{label(folder)}/{path.relative_to(folder)}")
        for folder in folders()
        for path in sorted(folder.glob(pattern))
        if _new(folder, path if path.is_dir() else path.parent)
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


@dataclasses.dataclass(frozen=True)
class Form:
    """A form in which the network and the optimizer's updates are computed.

    Attributes:
        training: whether the model has to be called for training, with all
            dropout at 0, to take that form.
        run: calls a function in that form and returns its results.
    """

    training: bool
    run: Callable[[Callable[[], Any]], Any]


FORMS = ("plain", "eager", "cpu_graph", "compiled")


@contextlib.contextmanager
def form(name: str) -> Iterator[Form]:
    """Computes the network and the optimizer's updates in one of FORMS.

    plain: modeling/ops.py and the optimizer's formula alone. eager: what calls
    without a graph take. cpu_graph: what TensorFlow fuses in inference on the
    CPU. compiled: what XLA compiles in training, however small.
    """
    from modeling import ops

    if name in ("plain", "eager"):
        with ops.plain() if name == "plain" else contextlib.nullcontext():
            yield Form(False, lambda function: function())
        return
    tf = pytest.importorskip("tensorflow")
    if os.environ.get("KERAS_BACKEND", "tensorflow") != "tensorflow":
        pytest.skip("a form of TensorFlow's")
    from modeling import accelerated
    from training.optimizers import accelerated_updates

    def run(function):
        with tf.device("CPU:0" if name == "cpu_graph" else None):
            return tf.function(function, autograph=False)()

    with pytest.MonkeyPatch.context() as patch:
        if name == "compiled":
            patch.setattr(accelerated, "LEAST_WIDTH", 1)
            patch.setattr(accelerated, "LEAST_CLASSES", 1)
            patch.setattr(accelerated_updates, "LEAST_ELEMENTS", 1)
        yield Form(name == "compiled", run)


def pretraining_gradients(
    model: Any, features: Mapping[str, Any], form: Form
) -> dict[str, Any]:
    """Returns {original name: gradient of the pretraining loss}."""
    import tensorflow as tf

    from modeling.checkpoints.names import original_name
    from modeling.losses import PretrainingLoss

    def differentiate():
        with tf.GradientTape() as tape:
            outputs = model(features, training=form.training)
            total, _ = PretrainingLoss()(outputs, features)
        variables = [v.value for v in model.trainable_variables]
        gradients = tape.gradient(total, variables)
        return [tf.convert_to_tensor(gradient) for gradient in gradients]

    names = [original_name(v) for v in model.trainable_variables]
    return dict(zip(names, form.run(differentiate), strict=True))


def shared(relative):
    """Returns a path in the shared data, or skips the test and says so."""
    if not GOLDEN_DIR:
        pytest.skip(f"needs BERT_GOLDEN_DIR, with {relative} beside it")
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"not beside BERT_GOLDEN_DIR: {relative}")
    return path
