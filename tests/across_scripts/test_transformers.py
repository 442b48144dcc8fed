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
from tests.support.paths import SAMPLES
from tests.support.waiting import TIMEOUT

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
    for name, (
        keras_class,
        arguments,
        labels,
        problem_type,
        _,
    ) in MODELS.items():
        models[name] = built(
            keras_class(tiny_config(vocab_size=1600), *arguments)
        )
        modeling.save_huggingface(
            models[name],
            folder / name,
            tokenizer=TOKENIZER,
            labels=labels,
            problem_type=problem_type,
            max_length=LENGTH,
        )
    asked = {name: texts for name, (*_, texts) in MODELS.items()}
    (folder / "asked.json").write_text(json.dumps(asked))
    (folder / "theirs.py").write_text(THEIRS)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    command = [python, "theirs.py"]
    subprocess.run(
        command, cwd=folder, check=True, env=environment, timeout=TIMEOUT
    )
    return models, read_json(folder / "found.json")


def features_of(theirs):
    """Returns the inputs that transformers made of a text, as ours."""
    names = {"input_ids": "input_ids", "segment_ids": "token_type_ids"}
    return {
        ours: np.array([theirs[name]], np.int32) for ours, name in names.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS if name != "masks"])
def test_a_text_has_the_ids_of_our_tokenizer(answers, name):
    _, their_answers = answers
    for theirs, (text, pair) in zip(
        their_answers[name], MODELS[name][-1], strict=True
    ):
        pairs = None if pair is None else [pair]
        ours = TOKENIZER([text], pairs, max_length=LENGTH)
        assert theirs["input_ids"] == ours["input_ids"][0].tolist()


# {name of a model: what a pipeline returns for logits, {label: score}}
SCORES_OF_LOGITS = {
    "classes": lambda logits: dict(
        zip(LABELS, special.softmax(logits), strict=True)
    ),
    "labels": lambda logits: dict(
        zip(LABELS, special.expit(logits), strict=True)
    ),
    "numbers": lambda logits: {"LABEL_0": logits[0]},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES_OF_LOGITS)
def test_a_pipeline_gives_a_text_the_scores_of_the_model(answers, name):
    models, their_answers = answers
    for theirs in their_answers[name]:
        logits = models[name](features_of(theirs)).numpy()[0]
        scores = SCORES_OF_LOGITS[name](logits)
        assert scores == pytest.approx(theirs["scores"], abs=1e-5)


@pytest.mark.slow
def test_a_pipeline_finds_the_tags_of_the_model(answers):
    models, their_answers = answers
    for theirs in their_answers["tags"]:
        logits = models["tags"](features_of(theirs)).numpy()[0]
        # Without [CLS] and [SEP].
        scores = special.softmax(logits, -1)[1:-1]
        indices, tags, their_scores = zip(*theirs["scores"], strict=True)
        assert [*indices] == [*range(1, len(scores) + 1)]
        assert [*tags] == [LABELS[best] for best in scores.argmax(-1)]
        np.testing.assert_allclose(scores.max(-1), their_scores, atol=1e-5)


@pytest.mark.slow
def test_a_pipeline_fills_masks_as_the_model(answers):
    models, their_answers = answers
    mask = TOKENIZER.vocab["[MASK]"]
    for theirs in their_answers["masks"]:
        position = theirs["input_ids"].index(mask)
        features = features_of(theirs)
        features["masked_lm_positions"] = np.array([[position]], np.int32)
        logits = models["masks"](features)["masked_lm_logits"][0, 0]
        scores = special.softmax(logits)
        best = {int(id_): score for id_, score in theirs["scores"].items()}
        assert len(best) == 10
        ours = {token_id: scores[token_id] for token_id in best}
        assert ours == pytest.approx(best, abs=1e-5)


@pytest.mark.slow
def test_transformers_computes_the_logits_of_spans(answers):
    models, their_answers = answers
    for theirs in their_answers["spans"]:
        outputs = models["spans"](features_of(theirs))
        ours = [outputs["start_logits"][0], outputs["end_logits"][0]]
        np.testing.assert_allclose(ours, theirs["scores"], atol=1e-5)
