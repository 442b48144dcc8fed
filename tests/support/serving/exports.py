"""Tiny models of every kind, their exports, and what they are asked.

For example:

    model = export_model("ner", tmp_path / "ner", create_options("litert"))
"""

import dataclasses
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras

import exporting
import modeling
from data.squad.squad_options import DecodingOptions, WindowOptions
from data.text.tokenization import FullTokenizer
from exporting import export_formats
from files.paths import StrPath
from modeling.base_model import BaseModel
from tests.support.models import ModelT, built, tiny_config
from tests.support.paths import SAMPLES

TOKENIZER = FullTokenizer(SAMPLES / "vocab.txt")
CASED_TOKENIZER = FullTokenizer(SAMPLES / "vocab.txt", do_lower_case=False)
INSTALLED = [
    name
    for name, package in export_formats.PACKAGE_OF_FORMAT.items()
    if importlib.util.find_spec(package)
]
SMALL = [name for name in INSTALLED if name != "saved_model"]
# The writers of these need their runtimes.
FORMAT = ",".join(dict.fromkeys(["litert", *SMALL]))
LABELS = ["no", "maybe", "yes"]
TAGS = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
LENGTH = 24
WINDOWS = WindowOptions(max_seq_length=32, doc_stride=9, max_query_length=8)
# The model for SQuAD is a cased one, which may find no answer.
DECODING = DecodingOptions(
    n_best_size=12,
    max_answer_length=6,
    version_2_with_negative=True,
    null_score_diff_threshold=-3.0,
)
# All that a text can be: nothing, long, in scripts of all kinds, odd.
TEXTS = [
    "The harbor light is on.",
    "",
    " \t\n",
    "A boat, the sea and (a storm)! " * 40,
    "Der Hafen in K\u00f6ln; le caf\u00e9 e\u0301te\u0301, \u0130stanbul",
    "\u6e2f\u53e3\u7684\u706f the light \u6e2f\u3002",
    "\u0397 \u0398\u0391\u039b\u0391\u03a3\u03a3\u0391 \u03a3\u0391\u03a3"
    " \u05d4\u05d9\u05dd \u0627\u0644\u0628\u062d\u0631",
    "the\u00a0boat\u2028and\u202fthe sea \U0001f6a2 a\u200bb \ufffd",
    "x" * 300 + " boats",
]


def create_model(
    keras_class: Callable[..., ModelT],
    *args: object,
    changes: Mapping[str, object] | None = None,
    **options: object,
) -> ModelT:
    """Returns a tiny model with weights large enough to tell texts apart."""
    keras.utils.set_random_seed(1)
    sizes: dict[str, Any] = {
        "vocab_size": len(TOKENIZER.tokens),
        "num_hidden_layers": 1,
        "max_position_embeddings": 32,
        "initializer_range": 0.5,
    }
    config = tiny_config(**sizes | dict(changes or {}))
    return built(keras_class(config, *args, **options))


def create_options(
    format: str = "saved_model", **options: Any
) -> exporting.ExportOptions:
    """Returns the options of an export in one or several formats."""
    defaults: dict[str, Any] = {
        "tokenizer": TOKENIZER,
        "max_seq_length": LENGTH,
        "formats": format.split(","),
    }
    return exporting.ExportOptions(**defaults | options)


# {name of an export: (class of its model, settings of the head)}
HEADS: dict[str, tuple[type[BaseModel], Any]] = {
    "squad": (
        modeling.BertSpanLabeler,
        dataclasses.asdict(WINDOWS) | dataclasses.asdict(DECODING),
    ),
    "classifier": (modeling.BertClassifier, {"labels": LABELS}),
    "ner": (modeling.BertTokenClassifier, {"labels": TAGS}),
    "pretraining": (modeling.BertPretrainer, {}),
    "features": (modeling.BertModel, {}),
    "multiple_choice": (modeling.BertMultipleChoice, {}),
}


def export_model(
    name: str,
    path: Path,
    options: exporting.ExportOptions,
    windows: WindowOptions = WINDOWS,
    max_length: int = 32,
) -> BaseModel:
    """Exports a tiny model of a kind, and returns it."""
    keras_class, settings = HEADS[name]
    num_labels = [len(settings["labels"])] if "labels" in settings else []
    changes = {"max_position_embeddings": max_length}
    model = create_model(keras_class, *num_labels, changes=changes)
    if name == "squad":
        settings = settings | dataclasses.asdict(windows)
        options = dataclasses.replace(
            options,
            tokenizer=CASED_TOKENIZER,
            max_seq_length=windows.max_seq_length,
        )
    exporting.export(path, model, settings, options)
    return model


def write_damaged(folder: Path, file: str = "saved_model.pb") -> Path:
    """Writes an export whose network is damaged, and returns its folder."""
    path = folder / file
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged")
    return folder


def relabel(folder: StrPath, labels: Sequence[str]) -> None:
    """Makes an export of a classifier another model, with these labels."""
    file = Path(folder, "model.json")
    described = json.loads(file.read_text())
    described["task"]["labels"] = labels
    file.write_text(json.dumps(described))
    # Other files that name the labels.
    for name in ("labels.txt", "config.json"):
        file.with_name(name).unlink(missing_ok=True)


PAIRS = {"text_a": TEXTS, "text_b": [*TEXTS[3:], *TEXTS[:3]]}
MASKED = [
    *TEXTS,
    "[MASK]",
    "The [MASK] light is[MASK].",
    "[MASK] [MASK]" + " boat" * 40 + " [MASK]",
]
# By design, the graph cuts answers elsewhere than Python in words with
# characters that BERT drops (see docs/differences.md).
CONTEXTS = [text for text in TEXTS if "\u200b" not in text]
QUESTIONS = {"question": [*TEXTS[5:], *TEXTS[:4]], "context": CONTEXTS}
# {kind of export: what it is asked}
REQUESTS = {
    "squad": [("answer", QUESTIONS), ("answer_n_best", QUESTIONS)],
    "classifier": [
        ("classify", PAIRS),
        ("classify_text", {"text": TEXTS}),
        ("tokenize", PAIRS),
    ],
    "ner": [("tag_words", {"text": TEXTS}), ("tag", {"text": TEXTS})],
    "pretraining": [("fill_mask", {"text": MASKED}), ("next_sentence", PAIRS)],
    "features": [("embed", {"text": TEXTS})],
    # Over ids alone.
    "multiple_choice": [],
}
_WITH_MASKS = [text for text in MASKED if "[MASK]" in text]
# (kind of export, text task, requests to it by HTTP)
TEXT_TASK_REQUESTS = [
    ("classifier", "classify", [{"text": text} for text in TEXTS]),
    (
        "squad",
        "answer",
        [{"question": "Who?", "context": text} for text in TEXTS],
    ),
    ("ner", "tag", [{"text": text} for text in TEXTS]),
    ("pretraining", "fill-mask", [{"text": text} for text in _WITH_MASKS]),
    ("features", "embed", [{"text": text} for text in TEXTS]),
    ("features", "tokenize", [{"text": text} for text in TEXTS]),
]
