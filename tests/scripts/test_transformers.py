"""transformers' pipelines on converted runs, against the runs' exports.

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
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from files.json_files import read_json
from tests import script_runner, task_files
from tests.conftest import write_config
from tests.script_runner import SAMPLES, parse_flags

# Without padding, which a span's scores would share.
THEIRS = """
import json, sys
import torch, transformers
from transformers import AutoModelForQuestionAnswering, AutoTokenizer, pipeline

asked, found = json.load(open(sys.argv[1])), {}
for name, texts in asked.items():
    found[name] = answers = []
    tokenizer = AutoTokenizer.from_pretrained(name)
    if name == "spans":
        # There is no pipeline for spans since transformers 5.
        model = AutoModelForQuestionAnswering.from_pretrained(name).eval()
        for question, passage in texts:
            inputs = tokenizer(question, passage, return_tensors="pt")
            with torch.no_grad():
                outputs = model(**inputs)
            answers.append({
                "input_ids": inputs["input_ids"][0].tolist(),
                "segment_ids": inputs["token_type_ids"][0].tolist(),
                "start_logits": outputs["start_logits"][0].tolist(),
                "end_logits": outputs["end_logits"][0].tolist(),
            })
    elif name == "tags":
        ask = pipeline("token-classification", name, ignore_labels=[])
        for text in texts:
            answers.append([
                (one["word"], one["entity"], float(one["score"]))
                for one in ask(text) if not one["word"].startswith("##")
            ])
    elif name == "masks":
        ask = pipeline("fill-mask", name, top_k=10)
        for text in texts:
            filled = ask(text)
            answers.append([
                {tokenizer.convert_ids_to_tokens(one["token"]): one["score"]
                 for one in one_mask}
                for one_mask in ([filled] if text.count("[MASK]") == 1
                                 else filled)
            ])
    else:
        ask = pipeline("text-classification", name, top_k=None)
        for text, pair in texts:
            # A pair is one example; in a list it would be two.
            given = {"text": text, "text_pair": pair} if pair else text
            scores = ask([given])[0]
            answers.append({one["label"]: one["score"] for one in scores})
    found[name].append(tokenizer.model_max_length)
found["versions"] = [torch.__version__, transformers.__version__]
json.dump(found, open(sys.argv[2], "w"))
"""
# They are run where transformers is; the processes take most of a minute.
pytestmark = pytest.mark.slow
LENGTH = 40
PAIRS = [
    ("I love this film.", ""),
    ("The Caf\u00e9, it isn't open: 3 days!", ""),
    ("unaffable \u65e5\u672c UPPER", ""),
    ("the river is red", "a blue boat on the water"),
    ("a " * 30, ""),
]
QUESTIONS = [
    ("Who sang?", "On Thursday the singers sang for hours."),
    (
        "Where is the boat?",
        "The blue boat is on the river in K\u00f6ln, (it) is!",
    ),
]
ASKED = {
    "classes": PAIRS,
    "labels": PAIRS,
    "numbers": PAIRS,
    "tags": ["the blue river burns", "a boat house in k\u00f6ln runs"],
    "spans": QUESTIONS,
    "masks": ["the [MASK] is red", "[MASK] boat on the [MASK] ."],
}


@pytest.fixture(scope="module")
def python():
    """Path of a Python that has torch and transformers."""
    if found := os.environ.get("BERT_TRANSFORMERS_PYTHON"):
        return found
    for name in ("torch", "transformers"):
        if not importlib.util.find_spec(name):
            pytest.skip(
                f"{name} is not installed, and BERT_TRANSFORMERS_PYTHON does "
                "not name a Python that has it"
            )
    return sys.executable


@pytest.fixture(scope="module")
def answers(python, tmp_path_factory):
    """A folder with runs, exports and conversions, and what is answered."""
    folder = tmp_path_factory.mktemp("transformers")
    changes = {"num_hidden_layers": 1, "initializer_range": 0.5}
    write_config(folder / "bert_config.json", **changes)
    task_files.write_regression(folder / "pairs")
    task_files.write_table(folder / "table")
    for name in ("train", "test"):
        task_files.write_entities(folder / f"{name}.txt", 9)
    (folder / "classes").mkdir()
    rows = [f"{i % 3},{text}\n" for i, (text, _) in enumerate(PAIRS * 3)]
    rows = ["label,text\n", *(row.replace(", it", " it") for row in rows)]
    (folder / "classes/train.csv").write_text("".join(rows))
    script_runner.create_records(folder, "records", max_seq_length=LENGTH)
    flags = parse_flags(f"""
        --bert_config_file=bert_config.json --vocab_file={SAMPLES}/vocab.txt
        --max_seq_length={LENGTH} --train_batch_size=8 --do_train
        --learning_rate=1e-3
    """)
    one_epoch = "--num_train_epochs=1 --data_dir="
    table = "run_classifier.py --task_name=csv " + one_epoch
    commands = {
        "classes": table + "classes",
        "labels": table + "table --output_mode=multilabel --text_column=review "
        "--label_column=colours --label_separator=|",
        "numbers": "run_classifier.py --task_name=sts-b " + one_epoch + "pairs",
        "tags": f"run_ner.py {one_epoch}.",
        "spans": f"run_squad.py --train_file={SAMPLES}/squad/train.json "
        "--num_train_epochs=0.2 --max_query_length=8 --doc_stride=8",
        "masks": "run_pretraining.py --input_file=records --num_train_steps=3 "
        "--max_predictions_per_seq=5",
    }
    converted = []
    for name, command in commands.items():
        script, _, given = command.partition(" ")
        script_runner.run(
            script,
            folder,
            **flags
            | {"output_dir": f"{name}_run", "export_dir": f"{name}_export"}
            | parse_flags(given),
        ).check()
        kind = {"tags": "token_classifier"}.get(name)
        converted.append(
            {"init_checkpoint": f"{name}_run", "output_dir": name}
            | ({"model": kind} if kind else {})
        )
    flags = {k: flags[k] for k in ("bert_config_file", "vocab_file")}
    script_runner.run_each("tools.convert_checkpoint", folder, flags, converted)
    (folder / "asked.json").write_text(json.dumps(ASKED))
    (folder / "theirs.py").write_text(THEIRS)
    subprocess.run(
        [python, "theirs.py", "asked.json", "found.json"],
        cwd=folder,
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    return folder, read_json(folder / "found.json")


def ask(folder, name, signature, **texts):
    """Returns what an export answers, {output: array}."""
    model = tf.saved_model.load(str(folder / f"{name}_export"))
    given = {key: tf.constant(value) for key, value in texts.items()}
    outputs = model.signatures[signature](**given)
    return {key: value.numpy() for key, value in outputs.items()}


def check(name, found, expected):
    """Compares scores, and prints the largest difference."""
    found, expected = np.array(found), np.array(expected)
    assert found.shape == expected.shape
    print(f"{name}: differs by {np.abs(found - expected).max():.1e}")
    # Probabilities and numbers are between -10 and 10.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["classes", "labels", "numbers"])
def test_texts_are_classified_alike(answers, name):
    folder, found = answers
    *theirs, _ = found[name]
    text_a, text_b = zip(*PAIRS, strict=True)
    ours = ask(folder, name, "classify", text_a=text_a, text_b=text_b)
    config = read_json(folder / name / "config.json")
    assert (
        config["problem_type"]
        == {
            "classes": "single_label_classification",
            "labels": "multi_label_classification",
            "numbers": "regression",
        }[name]
    )
    if name == "numbers":
        scores = [[one["LABEL_0"]] for one in theirs]
        check(name, scores, ours["values"][:, np.newaxis])
        return
    labels = [label.decode() for label in ours["labels"][0]]
    assert [*config["id2label"].values()] == labels
    assert config["label2id"] == {x: i for i, x in enumerate(labels)}
    assert len({*ours["probabilities"].argmax(1)}) > 1
    scores = [[one[label] for label in labels] for one in theirs]
    check(name, scores, ours["probabilities"])


def test_words_are_tagged_alike(answers):
    folder, found = answers
    *theirs, _ = found["tags"]
    ours = ask(folder, "tags", "tag", text=ASKED["tags"])
    for i, words in enumerate(theirs):
        count = ours["num_words"][i]
        assert len(words) == count == len(ASKED["tags"][i].split())
        tags = [tag.decode() for tag in ours["tags"][i][:count]]
        assert [tag for _, tag, _ in words] == tags
        check(
            "tags",
            [score for *_, score in words],
            ours["probabilities"][i][:count],
        )


def test_spans_are_scored_alike(answers):
    folder, found = answers
    *theirs, _ = found["spans"]
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    for one, texts in zip(theirs, QUESTIONS, strict=True):
        ids, segments = one["input_ids"], one["segment_ids"]
        tokens = ["[CLS]"]
        for text in texts:
            tokens += [*tokenizer.tokenize(text), "[SEP]"]
        assert tokenizer.convert_tokens_to_ids(tokens) == ids
        ours = ask(
            *(folder, "spans", "serving_default"),
            input_ids=[ids],
            input_mask=[[1] * len(ids)],
            segment_ids=[segments],
        )
        for name in ("start_logits", "end_logits"):
            check(f"spans, {name}", one[name], ours[name][0])


def test_masks_are_filled_alike(answers):
    folder, found = answers
    *theirs, _ = found["masks"]
    ours = ask(folder, "masks", "fill_mask", text=ASKED["masks"])
    for i, masks in enumerate(theirs):
        assert len(masks) == ours["num_masks"][i]
        for j, scores in enumerate(masks):
            tokens = [token.decode() for token in ours["tokens"][i, j]]
            assert {*tokens} == {*scores}
            check(
                "masks",
                [scores[token] for token in tokens],
                ours["probabilities"][i, j],
            )


def test_lengths_are_those_of_the_training(answers):
    folder, found = answers
    print("torch {}, transformers {}".format(*found["versions"]))
    for name in ASKED:
        assert found[name][-1] == LENGTH
        config = read_json(folder / name / "config.json")
        assert config["max_position_embeddings"] == 64
