"""Finds the reference outputs of Google's code, and lists their test cases.

A golden folder contains `models/`, `pretraining_data/`, `tokenization/`,
`classifier/`, `squad/`, `squad_scoring/` and `extract_features/`, each of
them optional. Its README.md describes their contents. The tests use all cases
that they find, so any folder with this layout can be used.

For example:

    @pytest.mark.parametrize("case", case_params("tokenization"))
"""

import contextlib
import dataclasses
import filecmp
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tests.support.paths import ROOT

if TYPE_CHECKING:
    import keras

T = TypeVar("T")
# Folder with more reference outputs. `data` beside it contains real tasks.
GOLDEN_DIR = os.environ.get("BERT_GOLDEN_DIR")
SHARED = Path(GOLDEN_DIR).resolve().parent if GOLDEN_DIR else ROOT / "none"


def list_golden_folders() -> list[Path]:
    """Returns the golden folders to read, ending with the project's own."""
    other_folders = [Path(GOLDEN_DIR).resolve()] if GOLDEN_DIR else []
    return [*other_folders, ROOT / "tests" / "testdata" / "golden"]


def name_of_golden_folder(folder: Path) -> str:
    """Returns a short name of a golden folder for test ids."""
    return "shipped" if "testdata" in folder.parts else folder.name


def _new(folder: Path, inside: Path) -> bool:
    """Returns whether no earlier golden folder contains the same files."""
    files = [
        str(path.relative_to(folder))
        for path in inside.rglob("*")
        if path.is_file()
    ]
    earlier = itertools.takewhile(
        lambda other_folder: other_folder != folder, list_golden_folders()
    )
    return not any(
        filecmp.cmpfiles(folder, other_folder, files, shallow=False)[0] == files
        for other_folder in earlier
    )


def path_params(pattern: str) -> list["pytest.ParameterSet"]:
    """Returns a pytest param for each matching path in all golden folders.

    A recording that is in two folders is listed once.
    """
    return [
        pytest.param(
            path,
            id=f"{name_of_golden_folder(folder)}/{path.relative_to(folder)}",
        )
        for folder in list_golden_folders()
        for path in sorted(folder.glob(pattern))
        if _new(folder, path if path.is_dir() else path.parent)
    ]


def case_params(kind: str) -> list["pytest.ParameterSet"]:
    """Returns a pytest param for every case of `kind`/cases.json.

    Each param is the case's dict, with `folder` added: the directory of its
    relative paths.
    """
    params = []
    for folder in list_golden_folders():
        path = folder / kind / "cases.json"
        if not path.is_file():
            continue
        contents = json.loads(path.read_text())
        for case in contents if isinstance(contents, list) else [contents]:
            case["folder"] = path.parent
            name = case.get("name", kind)
            params.append(
                pytest.param(case, id=f"{name_of_golden_folder(folder)}/{name}")
            )
    return params


@dataclasses.dataclass(frozen=True)
class Version:
    """A way to compute the network and the optimizer's updates.

    Attributes:
        training: True if the model uses this version only in training. Then
            call the model with training=True and all dropout rates 0.
        run: calls a function in this version, and returns its results.
    """

    training: bool
    run: Callable[[Callable[[], Any]], Any]


VERSIONS = ("plain", "eager", "cpu_graph", "compiled")


@contextlib.contextmanager
def compute_in_version(name: str) -> Iterator[Version]:
    """Computes the network and the optimizer's updates in one of VERSIONS.

    plain: only modeling/ops.py and the optimizer's formula. eager: without a
    graph. cpu_graph: fused as in inference on a CPU. compiled: as in training,
    with XLA for all sizes, even small ones.
    """
    from modeling import ops

    if name in ("plain", "eager"):
        with (
            ops.plain_versions()
            if name == "plain"
            else contextlib.nullcontext()
        ):
            yield Version(False, lambda function: function())
        return
    tf = pytest.importorskip("tensorflow")
    if os.environ.get("KERAS_BACKEND", "tensorflow") != "tensorflow":
        pytest.skip("this version needs TensorFlow")
    from modeling.accelerated import compiled
    from training.optimizers import accelerated_updates

    def run(function: Callable[[], T]) -> T:
        with tf.device("CPU:0" if name == "cpu_graph" else None):
            results: T = tf.function(function, autograph=False)()
        return results

    with pytest.MonkeyPatch.context() as patch:
        if name == "compiled":
            patch.setattr(compiled, "MIN_COMPILED_WIDTH", 1)
            patch.setattr(compiled, "MIN_COMPILED_CLASSES", 1)
            patch.setattr(accelerated_updates, "MIN_COMPILED_ELEMENTS", 1)
        yield Version(name == "compiled", run)


def pretraining_gradients(
    model: "keras.Model", features: Mapping[str, Any], version: Version
) -> dict[str, Any]:
    """Returns {Google's name: gradient of the pretraining loss}."""
    import tensorflow as tf

    from modeling.checkpoints.variables import google_name_of
    from modeling.losses import PretrainingLoss

    def differentiate() -> list[Any]:
        with tf.GradientTape() as tape:
            outputs = model(features, training=version.training)
            total, _ = PretrainingLoss()(outputs, features)
        variables = [variable.value for variable in model.trainable_variables]
        gradients = tape.gradient(total, variables)
        return [tf.convert_to_tensor(gradient) for gradient in gradients]

    names = [google_name_of(variable) for variable in model.trainable_variables]
    return dict(zip(names, version.run(differentiate), strict=True))


def shared_path(relative: str) -> Path:
    """Returns a path in the shared data. Skips the test if it is missing."""
    if not GOLDEN_DIR:
        pytest.skip(f"needs BERT_GOLDEN_DIR, with {relative} beside it")
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"not beside BERT_GOLDEN_DIR: {relative}")
    return path
