"""Models with random weights, and their presets for KerasHub.

For example:

    write_preset(write_release(folder, model), tmp_path / "preset")
"""

import json

import numpy as np

import modeling
from data.text.tokenization import FullTokenizer
from model_folders import kinds, model_json
from tests.support.conversions import convert
from tests.support.models import built, tiny_config
from tests.support.script_runner import SAMPLES

LABELS = ["no", "yes", "maybe"]
CONFIG = tiny_config(vocab_size=1600, num_attention_heads=4, type_vocab_size=3)


def write_preset(init_checkpoint, output_dir, **options):
    """Writes a preset in this process."""
    options = {"output_format": "kerashub", **options}
    convert(init_checkpoint, output_dir, **options)


def write_release(folder, model, labels=None, lower_case=True, **settings):
    """Writes a model like a release of Google's. Returns the folder."""
    settings = {"name": kinds.kind_of(model), **settings}
    described = {"version": model_json.VERSION, "task": settings}
    modeling.save_release(
        model,
        folder,
        tokenizer=FullTokenizer(SAMPLES / "vocab.txt", lower_case),
        labels=labels,
        files={"model.json": json.dumps(described)},
    )
    return folder


def create_perturbed(model_class, *arguments, config=CONFIG, **options):
    """Returns a built model, in which no weight is zero."""
    model = built(model_class(config, *arguments, **options))
    perturb(model)
    return model


def perturb(model):
    """Adds noise to all weights, so that none is zero."""
    random = np.random.default_rng(1)
    for weight in model.weights:
        if "float" in weight.dtype:
            noise = random.normal(0, 0.1, weight.shape)
            weight.assign(weight.numpy() + noise.astype("float32"))
