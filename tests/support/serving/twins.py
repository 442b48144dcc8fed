"""The same requests to a task in Python and to its graph, a row a signature.

For example:

    twins = ask_twins("embed", saved_models_folder)["a sentence"]
    assert twins.python.keys() == twins.graph.keys()
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf

import serving
from serving.text_model import TextModel
from serving.text_tasks.asking import ask
from tests.support.serving.nasty_texts import DROPPED, NASTY, OTHERS, REPEATING

# {name of a case: {field: text}}
Cases: TypeAlias = dict[str, dict[str, str]]
# {field: text of each case}
Fields: TypeAlias = Mapping[str, list[str]]
# {output of a signature: value}
Outputs: TypeAlias = dict[str, Any]

QUESTION = "Who keeps the light?"
PASSAGE = "a storm took the boat, and it came by at night."
TEXT_CASES: Cases = {name: {"text": text} for name, text in NASTY.items()}
MASK_CASES = {
    name: {"text": f"[MASK]{text} [MASK]"} for name, text in NASTY.items()
}
PAIR_CASES = {
    name: {"text_a": text, "text_b": OTHERS[name]}
    for name, text in NASTY.items()
}
PASSAGE_CASES = {
    f"passage of {name}": {"question": QUESTION, "context": text}
    for name, text in NASTY.items()
    if text != REPEATING and not {*text} & {*DROPPED}
}
QUESTION_CASES = {
    f"question of {name}": {"question": text, "context": PASSAGE}
    for name, text in NASTY.items()
}
ANSWER_CASES = PASSAGE_CASES | QUESTION_CASES
# {output of the signature `answer`: list in `answer_n_best`}
N_BEST_OF_OUTPUT = {
    "answer": "answers",
    "probability": "probabilities",
    "start_byte": "start_bytes",
    "end_byte": "end_bytes",
}


class Twins(NamedTuple):
    """The replies of both to a request.

    Attributes:
        python: {output: value}, {} for an empty text.
        graph: {output: padded value}.
    """

    python: Outputs
    graph: Outputs

    def outputs(self) -> Iterator[tuple[str, Any, Any]]:
        """Yields (name, value in Python, array of the graph) of all outputs."""
        for name, value in self.python.items():
            yield name, value, np.asarray(self.graph[name])


class TwinSignature(NamedTuple):
    """A signature of a graph, and how to ask the same in Python.

    Attributes:
        export: name of the export to ask.
        cases: the requests.
        ask: asks in Python, {field: text of each case} -> a reply to each.
        to_outputs: renames the entries of a reply as outputs of the signature.
    """

    export: str
    cases: Cases
    ask: Callable[[TextModel, Fields], Sequence[Any]]
    to_outputs: Callable[[Any], Outputs]


def _ask_words(text_model: TextModel, fields: Fields) -> Sequence[Any]:
    """Tags texts whose words are separated by white space."""
    requests = [{"words": text.split()} for text in fields["text"]]
    text_task = text_model.text_task("tag")
    return ask(text_model.loaded_export, text_task, requests)


def _labels_to_outputs(reply: Outputs) -> Outputs:
    numbers = reply["probabilities"]
    return {
        "label": reply["label"],
        "labels": [*numbers],
        "probabilities": [*numbers.values()],
    }


def _tokens_to_outputs(reply: Outputs) -> Outputs:
    return reply | {"lengths": len(reply["tokens"])}


def _tags_to_outputs(reply: Outputs) -> Outputs:
    kept = {name: reply[name] for name in ("words", "tags", "probabilities")}
    return kept | {"num_words": len(reply["words"])}


def _masks_to_outputs(reply: Outputs) -> Outputs:
    masks = reply["masks"]
    return {
        "num_masks": len(masks),
        "tokens": [[guess["token"] for guess in mask] for mask in masks],
        "probabilities": [
            [guess["probability"] for guess in mask] for mask in masks
        ],
    }


def _next_sentence_to_outputs(reply: Outputs) -> Outputs:
    return {"probability": reply["probability"]}


def _vectors_to_outputs(reply: Outputs) -> Outputs:
    return {
        "pooled_output": reply["pooled"],
        "mean_output": reply["mean"],
        "mean_normalized": reply["mean_normalized"],
        "sequence_output": reply["sequence"],
        "tokens": reply["tokens"],
        "lengths": len(reply["tokens"]),
    }


def _answer_to_outputs(reply: Outputs) -> Outputs:
    return {name: reply[name] for name in (*N_BEST_OF_OUTPUT, "null_odds")}


def _n_best_to_outputs(reply: Outputs) -> Outputs:
    n_best = reply["n_best"]
    lists = {
        plural: [entry[name] for entry in n_best]
        for name, plural in N_BEST_OF_OUTPUT.items()
    }
    return _answer_to_outputs(reply) | lists | {"num_answers": len(n_best)}


SIGNATURES = {
    "classify": TwinSignature(
        "classifier",
        PAIR_CASES,
        lambda model, fields: model.classify(
            fields["text_a"], fields["text_b"]
        ),
        _labels_to_outputs,
    ),
    "classify_text": TwinSignature(
        "classifier",
        TEXT_CASES,
        lambda model, fields: model.classify(fields["text"]),
        _labels_to_outputs,
    ),
    "tokenize": TwinSignature(
        "classifier",
        PAIR_CASES,
        lambda model, fields: model.tokenize(**fields),
        _tokens_to_outputs,
    ),
    "tag": TwinSignature(
        "ner",
        TEXT_CASES,
        lambda model, fields: model.tag(**fields),
        _tags_to_outputs,
    ),
    "tag_words": TwinSignature("ner", TEXT_CASES, _ask_words, _tags_to_outputs),
    "fill_mask": TwinSignature(
        "pretraining",
        MASK_CASES,
        lambda model, fields: model.fill_mask(**fields, top_k=10),
        _masks_to_outputs,
    ),
    "next_sentence": TwinSignature(
        "pretraining",
        PAIR_CASES,
        lambda model, fields: model.next_sentence(**fields),
        _next_sentence_to_outputs,
    ),
    "embed": TwinSignature(
        "features",
        TEXT_CASES,
        lambda model, fields: model.embed(**fields, tokens=True),
        _vectors_to_outputs,
    ),
    "answer": TwinSignature(
        "squad",
        ANSWER_CASES,
        lambda model, fields: model.answer(**fields, n_best=99),
        _answer_to_outputs,
    ),
    "answer_n_best": TwinSignature(
        "squad",
        ANSWER_CASES,
        lambda model, fields: model.answer(**fields, n_best=99),
        _n_best_to_outputs,
    ),
}


def ask_twins(name: str, saved_models_folder: Path) -> dict[str, Twins]:
    """Returns {name of a case: its twins}, all asked together.

    Args:
        name: name of the signature.
        saved_models_folder: folder of the exports, each in one of its name.
    """
    signature = SIGNATURES[name]
    path = saved_models_folder / signature.export
    names = next(iter(signature.cases.values()))
    fields = {
        field: [texts[field] for texts in signature.cases.values()]
        for field in names
    }
    replies = signature.ask(serving.load(path), fields)
    graph = tf.saved_model.load(str(path)).signatures[name]
    twins = zip(
        [reply and signature.to_outputs(reply) for reply in replies],
        _ask_graph(graph, fields),
        strict=True,
    )
    return {
        case: Twins(*pair)
        for case, pair in zip(signature.cases, twins, strict=True)
    }


def _ask_graph(graph: Callable[..., Any], fields: Fields) -> list[Outputs]:
    """Asks a signature of a SavedModel, and returns the outputs a text."""
    outputs = {}
    texts = {name: tf.constant(values) for name, values in fields.items()}
    for name, value in graph(**texts).items():
        array = value.numpy()
        if array.dtype == object:
            decoded = [text.decode() for text in array.flat]
            array = np.array(decoded, np.object_).reshape(array.shape)
        outputs[name] = array
    num_texts = len(next(iter(fields.values())))
    return [
        {name: values[row] for name, values in outputs.items()}
        for row in range(num_texts)
    ]
