"""What mypy finds in code that uses `data`, `modeling` and `serving`."""

import re

import pytest

from tests.support import fresh_process

# {package: code with right uses, wrong uses}. mypy must find each wrong use.
USES = {
    "data": (
        """
import tensorflow as tf

from data.io.record_datasets import Records, create_dataset
from data.padding import trim_batch
from data.text.ragged import true_indices

ids = tf.constant([1, 2])
rows = tf.RaggedTensor.from_row_lengths(ids, [1, 1])
total: tf.Tensor = tf.reduce_sum(1 + ids * tf.cast(rows.flat_values, tf.int32))
dataset = create_dataset(Records(["a"], {}), 8, is_training=False)
masks: list[tf.Tensor] = [batch["input_mask"] for batch in dataset.take(1)]
""",
        [
            "true_indices(rows)",
            "true_indices([True])",
            "trim_batch(ids)",
            "trim_batch({'input_ids': rows})",
            "tf.reshape({'ids': ids}, [-1])",
            "tf.repeat(ids, 2, axes=0)",
            "tf.cast(None, tf.int32)",
            "ids.to_tensor()",
            "dataset.batches(2)",
            "[batch.shape for batch in dataset]",
            "tf.io.gfile.GFile('a', 'rb').read().encode()",
        ],
    ),
    "modeling": (
        """
import keras
import modeling

config = modeling.BertConfig(vocab_size=100)
model = modeling.BertClassifier(config, num_labels=2, trim_padding=True, seed=1)
model = modeling.BertClassifier.from_preset("a", config=config, num_labels=2)
model.compile("adam", loss=modeling.ClassifierLoss())
losses: list[float] = model.fit({}, epochs=3).history["loss"]
scores: dict[str, float] = model.evaluate({}, return_dict=True)
features = {"input_ids": keras.ops.ones((1, 4), "int32")}
score = model(features, training=False)[0, 1]
vector = modeling.BertModel(config)(features)["pooled_output"][0]
starts = modeling.BertSpanLabeler(config)(features)["start_logits"][0]
""",
        [
            "model.fitt({})",
            "model.fit({}, epoch=3)",
            "model.fit({}).losses",
            "model.evaluate({}, return_dict=True).loss",
            "model.config.hidden",
            "modeling.BertModel(config, trim_paddin=True)",
            "modeling.BertClassifier(config, 2, bilstm='yes')",
            "modeling.BertClassifier(config, num_labels='2')",
            "modeling.BertClassifier.from_preset('a', num_label=2)",
            "modeling.BertModel.from_preset('a', seed='1')",
            "modeling.SpanLoss().unreduced_terms(config, {})",
            "modeling.load_checkpoint(model, 'a', [0])",
            "modeling.save_release(model, 'a', None)",
            "model(config)",
            "model(features, trainin=False)",
            "model(features).keys()",
            "score + '1'",
            "vector['pooled']",
            "vector.shape['first']",
            "modeling.BertModel(config)(features, segment_ids=None)",
            "modeling.BertModel(config)(features)['pooled']",
            "modeling.BertSpanLabeler(config)(features).shape",
            "modeling.BertSpanLabeler(config)(features)['start_logit']",
            "modeling.BertPretrainer(config)(features)['lm_logits']",
            "modeling.SpanLoss()({'start_logits': score}, features)",
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
            "bert.prepared",
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
