"""Exports of every kind, asked in a process that has TensorFlow alone.

tests/conftest.py loads this plugin, so no test imports it. The tests of
exporting/ and of serving/ ask for its fixtures, `exports` and
`saved_models_folder`.
"""

import json
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import fresh_process

_ASK = """
import json, sys
import numpy as np
import tensorflow as tf

arrays = {}
for name, (path, requests) in json.load(open(sys.argv[1])).items():
    signatures = tf.saved_model.load(path).signatures
    assert "serving_default" in signatures
    for number, (signature, inputs) in enumerate(requests):
        texts = {
            field: tf.constant(values, tf.string)
            for field, values in inputs.items()
        }
        for key, value in signatures[signature](**texts).items():
            value = value.numpy()
            if value.dtype == object:
                value = np.array(
                    [text.decode() for text in value.flat], np.str_
                ).reshape(value.shape)
            arrays[f"{name}/{number}/{key}"] = value
ours = {"modeling", "data", "exporting", "serving", "tensorflow_text"}
assert not ours & set(sys.modules)
np.savez(sys.argv[2], **arrays)
"""


def _ask_in_process(folder: Path) -> Mapping[str, Any]:
    """Returns {NAME/NUMBER/OUTPUT: array} of the requests to each SavedModel.

    A process that has TensorFlow alone asks the models.
    """
    # Importing TensorFlow takes seconds, and most tests need no export.
    from tests.support.serving.exports import REQUESTS

    requests, results = folder / "requests.json", folder / "results.npz"
    asked = {
        name: (str(folder / name), requests_of_name)
        for name, requests_of_name in REQUESTS.items()
    }
    requests.write_text(json.dumps(asked))
    # With -I, Python finds no module of the project.
    fresh_process.run("-I", "-c", _ASK, requests, results, cwd=folder).check()
    arrays: Mapping[str, Any] = np.load(results)
    return arrays


@pytest.fixture(scope="session")
def exports(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, types.SimpleNamespace]:
    """{name: an export, its model, and what a process made of requests}.

    `outputs[i]` are the outputs of the i-th request, arrays by name.
    """
    # Imported late, as above.
    from tests.support.serving.exports import (
        CASED_TOKENIZER,
        REQUESTS,
        TOKENIZER,
        create_options,
        export_model,
    )

    folder = tmp_path_factory.mktemp("exports")
    options = create_options(predict_batch_size=4)
    created = {
        name: types.SimpleNamespace(
            path=folder / name,
            model=export_model(name, folder / name, options),
            tokenizer=CASED_TOKENIZER if name == "squad" else TOKENIZER,
            requests=requests,
            outputs=[{} for _ in requests],
        )
        for name, requests in REQUESTS.items()
    }
    for key, value in _ask_in_process(folder).items():
        name, number, output = key.split("/")
        created[name].outputs[int(number)][output] = value
    return created


@pytest.fixture(scope="session")
def saved_models_folder(exports: dict[str, types.SimpleNamespace]) -> Path:
    """The folder of the SavedModels of `exports`, each in one of its name."""
    squad: Path = exports["squad"].path
    return squad.parent
