"""Keras loads a saved model, whichever module was imported first."""

import pytest

import modeling
from tests.support import fresh_process
from tests.support.models import SMALL

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
    model = modeling.BertClassifier(SMALL, 2)
    model.compile("adam", modeling.ClassifierLoss([1.0, 2.0]))
    model.save(file := tmp_path / "model.keras")
    code = _LOAD.format(imports=imports)
    done = fresh_process.run("-c", code, file).check()
    expected = "BertClassifier {'class_weights': [1.0, 2.0]}\n"
    assert done.stdout == expected
