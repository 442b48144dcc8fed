"""What mypy finds in code that uses the models of `modeling`.

tensors.py has the types of inputs and outputs.
"""

import re

import pytest

from tests.support import fresh_process

RIGHT = """
import modeling

config = modeling.BertConfig(vocab_size=100)
model = modeling.BertClassifier(config, num_labels=2, unpad=True, seed=1)
model.compile("adam", loss=modeling.ClassifierLoss())
model.fit({}, epochs=3)
"""
WRONG = [
    "model.fitt({})",
    "model.fit({}, epoch=3)",
    "model.config.hidden",
    "modeling.BertModel(config, unpadd=True)",
    "modeling.BertClassifier(config, 2, bilstm='yes')",
    "modeling.BertClassifier(config, num_labels='2')",
]


@pytest.mark.slow
def test_mypy_finds_each_wrong_use_of_a_model(tmp_path):
    file = tmp_path / "use.py"
    file.write_text("\n".join([RIGHT, *WRONG, ""]))
    done = fresh_process.run("-m", "mypy", file)
    lines = re.findall(r"use\.py:(\d+): error", done.stdout)
    first = RIGHT.count("\n") + 2
    expected = [str(first + index) for index in range(len(WRONG))]
    assert lines == expected, done.stdout
