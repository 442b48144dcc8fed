"""transformers on folders that we write, against the models that we saved.

BERT_TRANSFORMERS_PYTHON names the Python of an environment that has torch and
transformers (requirements/bench.txt), unless this one does.
"""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import special

import modeling
from data.text.tokenization import FullTokenizer
from files.json_files import read_json
from tests.support.models import built, tiny_config
from tests.support.script_runner import SAMPLES

THEIRS = """
import json, sys
import torch, transformers
from transformers import AutoModelForQuestionAnswering, AutoTokenizer, pipeline

asked, found = json.load(open("asked.json")), {}
for name, texts in asked.items():
    tokenizer = AutoTokenizer.from_pretrained(name)
    found[name] = answers = []
    for text, pair in texts:
        inputs = tokenizer(text, pair, truncation=True, return_tensors="pt")
        # Segments only differ between the texts of a pair.
        answer = {x: inputs[x][0].tolist() for x in inputs}
        if name == "spans":
            # There is no pipeline for spans since transformers 5.
            model = AutoModelForQuestionAnswering.from_pretrained(name).eval()
            with torch.no_grad():
                outputs = model(**inputs)
            answer["scores"] = [outputs[x][0].tolist()
                                for x in ("start_logits", "end_logits")]
        elif name == "tags":
            ask = pipeline("token-classification", name, ignore_labels=[])
            answer["scores"] = [(x["index"], x["entity"], float(x["score"]))
                                for x in ask(text)]
        elif name == "masks":
            ask = pipeline("fill-mask", name, top_k=10)
            answer["scores"] = {x["token"]: x["score"] for x in ask(text)}
        else:
            ask = pipeline("text-classification", name, top_k=None)
            # A pair is one example; in a list it would be two.
            given = {"text": text, "text_pair": pair} if pair else text
            scores = ask([given], truncation=True)[0]
            answer["scores"] = {x["label"]: x["score"] for x in scores}
        answers.append(answer)
print(torch.__version__, transformers.__version__)
json.dump(found, open("found.json", "w"))
"""
LENGTH = 40
PAIRS = [
    ("I love this film.", None),
    ("The Caf\u00e9, it isn't open: 3 days!", None),
    ("unaffable \u65e5\u672c UPPER", None),
    ("the river is red", "a blue boat on the water"),
    ("a " * 50, None),
]
LABELS = ["red", "blue", "green"]
# {name: (class, its arguments, labels, problem_type, texts)}
MODELS = {
    "classes": (
        modeling.BertClassifier,
        [3],
        LABELS,
        "single_label_classification",
        PAIRS,
    ),
    "labels": (
        modeling.BertClassifier,
        [3],
        LABELS,
        "multi_label_classification",
        PAIRS,
    ),
    "numbers": (modeling.BertClassifier, [1], None, "regression", PAIRS),
    "tags": (modeling.BertTokenClassifier, [3], LABELS, None, PAIRS[:3]),
    "spans": (modeling.BertSpanLabeler, [], None, None, PAIRS[3:4]),
    "masks": (
        modeling.BertPretrainer,
        [],
        None,
        None,
        [("the [MASK] is red", None), ("a boat on the [MASK] .", None)],
    ),
}
TOKENIZER = FullTokenizer(SAMPLES / "vocab.txt")


@pytest.fixture(scope="module")
def python():
    """Path of a Python that has torch and transformers."""
    if path := os.environ.get("BERT_TRANSFORMERS_PYTHON"):
        return path
    for name in ("torch", "transformers"):
        if not importlib.util.find_spec(name):
            pytest.skip(
                f"{name} is not installed, and BERT_TRANSFORMERS_PYTHON does "
                "not name a Python that has it"
            )
    return sys.executable


@pytest.fixture(scope="module")
def answers(python, tmp_path_factory):
    """({name: model}, {name: what transformers answers})."""
    folder = tmp_path_factory.mktemp("transformers")
    models = {}
    for name, (kind, arguments, labels, problem_type, _) in MODELS.items():
        models[name] = built(kind(tiny_config(vocab_size=1600), *arguments))
        modeling.save_huggingface(
            models[name],
            folder / name,
            labels,
            TOKENIZER,
            problem_type=problem_type,
            max_length=LENGTH,
        )
    asked = {name: texts for name, (*_, texts) in MODELS.items()}
    (folder / "asked.json").write_text(json.dumps(asked))
    (folder / "theirs.py").write_text(THEIRS)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    command = [python, "theirs.py"]
    subprocess.run(command, cwd=folder, check=True, env=environment)
    return models, read_json(folder / "found.json")


def compute(name, model, ids, segments):
    """Returns a model's scores, in the form of transformers' answers."""
    features = {"input_ids": ids, "segment_ids": segments}
    features = {k: np.array([v], np.int32) for k, v in features.items()}
    if name == "masks":
        place = ids.index(TOKENIZER.vocab["[MASK]"])
        features["masked_lm_positions"] = np.array([[place]], np.int32)
        logits = model(features)["masked_lm_logits"][0, 0]
        return dict(enumerate(special.softmax(logits).tolist()))
    outputs = model(features)
    if name == "spans":
        return [outputs[f"{x}_logits"][0].numpy() for x in ("start", "end")]
    logits = outputs.numpy()[0]
    if name == "numbers":
        return {"LABEL_0": logits[0]}
    if name == "labels":
        return dict(zip(LABELS, special.expit(logits), strict=True))
    scores = special.softmax(logits, -1)
    if name == "classes":
        return dict(zip(LABELS, scores, strict=True))
    return [
        (index, LABELS[one.argmax()], one.max())
        for index, one in enumerate(scores)
    ][1:-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_pipelines_answer_as_the_model(answers, name):
    models, their_answers = answers
    for theirs, texts in zip(
        their_answers[name], MODELS[name][-1], strict=True
    ):
        ids = theirs["input_ids"]
        assert len(ids) <= LENGTH
        if len(ids) < LENGTH and name != "masks":
            tokens = ["[CLS]"]
            for text in filter(None, texts):
                tokens += [*TOKENIZER.tokenize(text), "[SEP]"]
            assert TOKENIZER.convert_tokens_to_ids(tokens) == ids
        ours = compute(name, models[name], ids, theirs["token_type_ids"])
        if isinstance(ours, dict):
            scores = {
                int(k) if k.isdigit() else k: v
                for k, v in theirs["scores"].items()
            }
            ours = {key: ours[key] for key in scores}
            assert ours == pytest.approx(scores, abs=1e-5)
        elif name == "tags":
            assert [x[:2] for x in ours] == [
                tuple(x[:2]) for x in theirs["scores"]
            ]
            assert [x[2] for x in ours] == pytest.approx(
                [x[2] for x in theirs["scores"]], abs=1e-5
            )
        else:
            np.testing.assert_allclose(ours, theirs["scores"], atol=1e-5)
