"""Clients of Hugging Face's load exports in ONNX as they are.

BERT_OPTIMUM_PYTHON names the Python of an environment with optimum-onnx
(`pip install optimum-onnx[onnxruntime]`), BERT_NODE_MODULES the folder in which
`npm install --ignore-scripts @huggingface/transformers` was run.
"""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest
from scipy import special

import serving
from serving import engines
from tests.support.paths import SAMPLES
from tests.support.serving import exports
from tests.support.serving.exports import CASED_TOKENIZER, TOKENIZER
from tests.support.waiting import TIMEOUT

pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
pytest.importorskip("onnxruntime", reason="needs requirements/onnx.txt")
pytestmark = pytest.mark.slow
TEXTS = (SAMPLES / "corpus.txt").read_text().split("\n")
TEXTS = [text for text in TEXTS if text.strip()][:100]
LENGTH = 128
# {kind of export: the class that loads it, its outputs, and ours}
CLASSES = {
    "classifier": ("SequenceClassification", ["logits"], ["probabilities"]),
    "ner": ("TokenClassification", ["logits"], ["probabilities"]),
    "squad": ("QuestionAnswering", *[["start_logits", "end_logits"]] * 2),
    "pretraining": ("MaskedLM", ["logits"], ["masked_lm_probabilities"]),
    "features": (
        "FeatureExtraction",
        ["last_hidden_state"],
        ["sequence_output"],
    ),
    "multiple_choice": ("MultipleChoice", ["logits"], ["probabilities"]),
}
OPTIMUM = """
import json, sys
import optimum.version, onnxruntime, transformers
from optimum import onnxruntime as ort

folder, classes, texts, file = sys.argv[1:]
classes, texts = json.loads(classes), json.loads(texts)
replies = {"versions": [optimum.version.__version__, onnxruntime.__version__]}
for kind, (class_name, outputs, _) in classes.items():
    tokenizer = transformers.AutoTokenizer.from_pretrained(f"{folder}/{kind}")
    model = getattr(ort, "ORTModelFor" + class_name).from_pretrained(
        f"{folder}/{kind}")
    if kind == "classifier":
        ask = transformers.pipeline(
            "text-classification", model=model, tokenizer=tokenizer)
        replies["answers"] = ask(texts)
    replies[kind] = []
    for text in texts[:10] if kind == "pretraining" else texts:
        inputs = tokenizer(text, return_tensors="pt")
        if kind == "multiple_choice":
            inputs = {name: ids[None] for name, ids in inputs.items()}
        computed = model(**inputs)
        replies[kind].append([
            inputs["input_ids"].flatten().tolist(),
            [computed[output].flatten().tolist() for output in outputs]])
json.dump(replies, open(file, "w"))
"""
NODE = """
import fs from "node:fs";
import * as hf from "@huggingface/transformers";

const [folder, kinds, texts_json, file] = process.argv.slice(1);
const texts = JSON.parse(texts_json);
hf.env.allowRemoteModels = false;
hf.env.localModelPath = folder + "/";
const replies = {versions: [hf.env.version]};
for (const [kind, [name, outputs]] of Object.entries(JSON.parse(kinds))) {
  const Class = hf[kind == "features" ? "AutoModel" : "AutoModelFor" + name];
  const model = await Class.from_pretrained(kind, {dtype: "fp32"});
  const tokenizer = await hf.AutoTokenizer.from_pretrained(kind);
  if (kind == "classifier") {
    const ask = await hf.pipeline(
      "text-classification", kind, {dtype: "fp32"});
    replies.answers = [];
    for (const text of texts) replies.answers.push(...await ask(text));
  }
  replies[kind] = [];
  for (const text of kind == "pretraining" ? texts.slice(0, 10) : texts) {
    const inputs = tokenizer(text);
    const computed = await model(inputs);
    replies[kind].push([
      Array.from(inputs.input_ids.data, Number),
      outputs.map(output => Array.from(computed[output].data))]);
  }
}
fs.writeFileSync(file, JSON.stringify(replies));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Holds an export in ONNX of each kind."""
    folder = tmp_path_factory.mktemp("clients")
    options = exports.create_options("onnx", max_seq_length=LENGTH)
    for kind in CLASSES:
        exports.export_model(kind, folder / kind, options, max_length=LENGTH)
    return folder


def compare_answers(folder, result, kinds):
    """Compares what a client replies with answers of this project."""
    differences = {}
    for kind in kinds:
        _, theirs, ours = CLASSES[kind]
        tokenizer = CASED_TOKENIZER if kind == "squad" else TOKENIZER
        engine = engines.load_engine(folder / kind)
        differences[kind] = 0.0
        for text, (ids, outputs) in zip(TEXTS, result[kind], strict=False):
            tokens = ["[CLS]", *tokenizer.tokenize(text), "[SEP]"]
            assert ids == tokenizer.convert_tokens_to_ids(tokens), text
            features = engines.pad_batch(
                [engines.NetworkInput(ids, len(ids))], len(ids)
            )
            if kind == "multiple_choice":
                features = {
                    name: values[None] for name, values in features.items()
                }
            expected = engine.run(features)
            for output, our_output, values in zip(
                theirs, ours, outputs, strict=True
            ):
                values = np.reshape(values, expected[our_output].shape)
                if output == "logits":
                    values = special.softmax(values, -1)
                error = np.abs(values - expected[our_output]).max()
                differences[kind] = max(differences[kind], error)
    answers = serving.load(folder / "classifier").classify(TEXTS)
    for theirs, answer in zip(result["answers"], answers, strict=True):
        assert theirs["label"] == answer["label"]
        probability = answer["probabilities"][answer["label"]]
        assert theirs["score"] == pytest.approx(probability, abs=1e-5)
    print(result["versions"], differences)
    assert max(differences.values()) < 1e-4


def run_client(command, folder, kinds, path, **options):
    """Returns what a client, which writes `path`, replies to TEXTS."""
    classes = {kind: CLASSES[kind] for kind in kinds}
    arguments = [folder, json.dumps(classes), json.dumps(TEXTS), path]
    options["env"] = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH"
    }
    done = subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())


def test_optimum_computes_the_same_replies(folder, tmp_path):
    python = os.environ.get("BERT_OPTIMUM_PYTHON")
    if not python:
        pytest.skip("needs BERT_OPTIMUM_PYTHON")
    path = tmp_path / "replies.json"
    result = run_client([python, "-c", OPTIMUM], folder, CLASSES, path)
    compare_answers(folder, result, CLASSES)


def test_transformers_js_computes_the_same_replies(folder, tmp_path):
    modules = os.environ.get("BERT_NODE_MODULES")
    if not modules or not shutil.which("node"):
        pytest.skip("needs node, and BERT_NODE_MODULES")
    command = ["node", "--input-type=module", "-e", NODE]
    # It has no class for multiple choice.
    kinds = [kind for kind in CLASSES if kind != "multiple_choice"]
    path = tmp_path / "replies.json"
    compare_answers(
        folder, run_client(command, folder, kinds, path, cwd=modules), kinds
    )
