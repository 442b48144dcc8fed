"""Presets of KerasHub: models of ours with random weights, and a recorded one.

KerasHub 0.32 wrote the classifier in tests/testdata/weights/kerashub, with
random weights, and computed out.npz (its backbone) and out_c.npz of in.npz.

For example:

    write_preset(write_release(folder, model), tmp_path / "preset")
    change_json(copy_recorded(tmp_path / "preset") / "task.json", num_classes=3)
"""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

import modeling
from data.text.tokenization import FullTokenizer
from files.paths import StrPath
from model_folders import kinds, model_json
from modeling.base_model import BaseModel
from tests.support.checkpoints import convert
from tests.support.models import ModelT, built, tiny_config
from tests.support.paths import ROOT, SAMPLES

LABELS = ["no", "yes", "maybe"]
CONFIG = tiny_config(vocab_size=1600, num_attention_heads=4, type_vocab_size=3)

RECORDED = ROOT / "tests/testdata/weights/kerashub"
_INPUTS = np.load(RECORDED / "in.npz")
FEATURES = {
    "input_ids": _INPUTS["ids"],
    "input_mask": _INPUTS["mask"],
    "segment_ids": _INPUTS["seg"],
}
# A weight of the first block, in the files of a preset.
QUERY = "layers/transformer_encoder/_self_attention_layer/query_dense/vars/0"


def copy_recorded(folder: Path) -> Path:
    """Returns a copy of the recorded preset of a classifier."""
    return shutil.copytree(RECORDED / "classifier", folder)


def copy_backbone(folder: Path) -> Path:
    """Returns a copy of the recorded preset that has only the backbone."""
    copy_recorded(folder)
    for name in ("task.json", "task.weights.h5", "preprocessor.json"):
        (folder / name).unlink()
    return folder


def change_json(path: Path, **entries: object) -> None:
    """Changes entries of a JSON file, or of its `config`."""
    values = json.loads(path.read_text())
    for name, value in entries.items():
        place = values if name in values else values["config"]
        place[name] = value
    path.write_text(json.dumps(values))


def write_preset(
    init_checkpoint: StrPath, output_dir: StrPath, **options: Any
) -> None:
    """Writes a preset in this process."""
    options = {"output_format": "kerashub", **options}
    convert(init_checkpoint, output_dir, **options)


def write_release(
    folder: Path,
    model: BaseModel,
    labels: Sequence[str] | None = None,
    lower_case: bool = True,
    **settings: object,
) -> Path:
    """Writes a model like a release of Google's. Returns the folder."""
    settings = {"name": kinds.model_class_of(model), **settings}
    described = {"version": model_json.VERSION, "task": settings}
    modeling.save_release(
        model,
        folder,
        tokenizer=FullTokenizer(SAMPLES / "vocab.txt", lower_case),
        labels=labels,
        files={"model.json": json.dumps(described)},
    )
    return folder


def create_perturbed(
    keras_class: Callable[..., ModelT],
    *arguments: object,
    config: modeling.BertConfig = CONFIG,
    **options: object,
) -> ModelT:
    """Returns a built model, in which no weight is zero."""
    model = built(keras_class(config, *arguments, **options))
    add_noise(model)
    return model


def add_noise(model: keras.Model) -> None:
    """Adds noise to all weights, so that none is zero."""
    random = np.random.default_rng(1)
    for weight in model.weights:
        if "float" in weight.dtype:
            noise = random.normal(0, 0.1, weight.shape)
            weight.assign(weight.numpy() + noise.astype("float32"))
