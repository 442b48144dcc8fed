"""What mypy finds in code that uses the models of `modeling` and `serving`.

modeling/tensors.py has the types of inputs and outputs, serving/task_methods.py
those of the replies of exports.
"""

import re

import pytest

from tests.support import fresh_process

# {package: code with right uses, wrong uses}. mypy must find each wrong use.
USES = {
    "modeling": (
        """
import modeling

config = modeling.BertConfig(vocab_size=100)
model = modeling.BertClassifier(config, num_labels=2, unpad=True, seed=1)
model.compile("adam", loss=modeling.ClassifierLoss())
model.fit({}, epochs=3)
""",
        [
            "model.fitt({})",
            "model.fit({}, epoch=3)",
            "model.config.hidden",
            "modeling.BertModel(config, unpadd=True)",
            "modeling.BertClassifier(config, 2, bilstm='yes')",
            "modeling.BertClassifier(config, num_labels='2')",
        ],
    ),
    "serving": (
        """
import serving

bert = serving.load("output/model")
label: str | list[str] | None = bert.classify("a")["label"]
values: list[float] = [reply["value"] for reply in bert.classify(["a", "b"])]
start: int = bert.answer("Who?", "He.")["start"]
entity_type: str = bert.tag("a")["entities"][0]["type"]
token: str = bert.fill_mask("[MASK]")["masks"][0][0]["token"]
probability: float = bert.next_sentence("a", ["b"])[0]["probability"]
vector: list[float] = bert.embed("a")["mean_normalized"]
num_cut: int = bert.embed("a")["num_wordpieces_cut"]
index: int = bert.rerank("a", ["b"])["ranking"][0]["index"]
tokens: list[str] = bert.tokenize("a")["tokens"]
""",
        [
            "bert.classify('a')['labl']",
            "bert.classify(['a'])['label']",
            "bert.answer('Who?', 'He.')['begin']",
            "bert.tag(['a'])[0]['entities'][0]['kind']",
            "bert.fill_mask('[MASK]')['tokens']",
            "bert.next_sentence('a', 'b')['probabilities']",
            "bert.embed('a')['vector']",
            "bert.embed('a')['mean'].shape",
            "bert.rerank('a', ['b'])['ranking'][0]['scores']",
            "bert.tokenize('a')['ids']",
        ],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("package", USES)
def test_mypy_finds_each_wrong_use(package, tmp_path):
    right, wrong = USES[package]
    file = tmp_path / "use.py"
    file.write_text("\n".join([right, *wrong, ""]))
    done = fresh_process.run("-m", "mypy", file)
    lines = re.findall(r"use\.py:(\d+): error", done.stdout)
    first = right.count("\n") + 2
    expected = [str(first + index) for index in range(len(wrong))]
    assert lines == expected, done.stdout
