"""Each Python task against its graph, on nasty texts.

The network is the same, so a difference is one of tokenizing, cutting, packing
or decoding.

    serving/tasks/answer.py     serving/exporting/signatures/answer_graph.py
    serving/tasks/classify.py   serving/exporting/signatures/classify_graph.py
    serving/tasks/embed.py      serving/exporting/signatures/embed_graph.py
    serving/tasks/pretrained.py serving/exporting/signatures/pretrained_graph.py
    serving/tasks/tag.py        serving/exporting/signatures/tag_graph.py
    serving/tasks/tokenize.py   serving/exporting/signatures/tokenize_graph.py

serving/tasks/pairs.py is a part of those that read two texts.
"""

import functools
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import serving
from serving.tasks.task_steps import ask_model

REPEATING = "a" * 100 + " " + "b" * 101
# What a text can be: nothing, long, in scripts of all kinds, odd.
NASTY = {
    "empty": "",
    "a space": " ",
    "ASCII white space": "\t\r\n \v\f",
    "no-break space": "\u00a0",
    "wide spaces": "\u3000\u2003",
    "zero-width space": "\u200b",
    "byte order mark": "\ufeff",
    "a sentence": "The harbor light is on.",
    "kinds of spaces": "the\u00a0boat\u202fand\u2009the\u3000sea",
    "zero-width characters": "a\u200bb c\u200cd\u200de \ufefff\u00adg",
    "emoji": (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f469\U0001f3fd"
        "\u200d\U0001f680 at sea \U0001f1e9\U0001f1ea \u2764\ufe0f"
    ),
    "accents": (
        "e\u0301te\u0301 Z\u0351\u036ba\u0343lgo \u0130stanbul K\u00d6LN \ufb01"
    ),
    "accents alone": "\u0301\u0308 the \u0301boat",
    "Chinese": (
        "\u6e2f\u53e3\u7684\u706f the light \u6e2f\u3002 \U00020000\u8c93"
    ),
    "right to left": (
        "\u202b\u05e9\u05dc\u05d5\u05dd\u202c"
        " \u0627\u0644\u0628\u064e\u062d\u0631 \u200fboat\u200e"
    ),
    "Greek capitals": (
        "\u0397 \u0398\u0391\u039b\u0391\u03a3\u03a3\u0391 \u03a3\u0391\u03a3"
    ),
    "scripts with marks": (
        "\u0928\u092e\u0938\u094d\u0924\u0947 \u0e2a\u0e27\u0e31\u0e2a"
        " \ud55c\uad6d \u1112\u1161\u11ab"
    ),
    "control characters": (
        "\x00 \x07boat\x1b[0m \x7f \x85 the \u2028sea\u2029 \ufffd"
    ),
    "private use": "\ue000 \uffff \U0010ffff the boat",
    "line breaks": "line\none\r\ntwo\tthree\vfour\ffive",
    "special tokens": "[MASK] [SEP] [CLS] [PAD] [UNK]",
    "half special tokens": "a [SEP] b[CLS]c ##ing ## [MASK the[SEP]boat [mask]",
    "punctuation": (
        "U.S. O'Brien don't 1990\u20131995 York\u2014often...Bob\u2026"
        " (a storm)!"
    ),
    "quotes and symbols": (
        "\u00ab\u201e\u201c\u201d\u00bb ?! -- $5.00 a/b @c #d x^2 `e` ~f |g"
    ),
    "a word too long": "x" * 300 + " boats",
    "repeating": REPEATING,
    "200 words": "boat " * 200,
    "90 ideographs": "\u6e2f" * 90,
    "40 sentences": "A boat, the sea and (a storm)! " * 40,
    "500 spaces": "a" + " " * 500 + "boat",
}
TEXTS = [*NASTY.values()]
# The second text of each pair.
OTHERS = dict(zip(NASTY, [*TEXTS[11:], *TEXTS[:11]], strict=True))
# By design, the graph cuts an answer at its WordPieces, and Python, as Google's
# code, at its characters (see docs/differences.md). The answers differ in words
# with characters that BERT drops or takes for spaces, and their positions in a
# word that repeats its WordPieces.
DROPPED = (
    "\u00a0\u2009\u3000\u2003\u200b\u200c\u200d\u200e\u200f\u202b\u202c\ufeff\u00ad"
    "\x00\x07\x1b\x7f\x85\u2028\u2029\ufffd\ue000\uffff\U0010ffff"
)

QUESTION = "Who keeps the light?"
PASSAGE = "a storm took the boat, and it came by at night."
# {name of a case: {field: text}}
TEXT_CASES = {name: {"text": text} for name, text in NASTY.items()}
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
# {signature: (name of the export, cases)}
ASKED = {
    "classify": ("classifier", PAIR_CASES),
    "classify_text": ("classifier", TEXT_CASES),
    "tokenize": ("classifier", PAIR_CASES),
    "tag": ("ner", TEXT_CASES),
    "tag_words": ("ner", TEXT_CASES),
    "fill_mask": ("pretraining", MASK_CASES),
    "next_sentence": ("pretraining", PAIR_CASES),
    "embed": ("features", TEXT_CASES),
    "answer": ("squad", ANSWER_CASES),
    "answer_n_best": ("squad", ANSWER_CASES),
}
# {output of the signature `answer`: list in `answer_n_best`}
OUTPUTS = {
    "answer": "answers",
    "probability": "probabilities",
    "start_byte": "start_bytes",
    "end_byte": "end_bytes",
}


def ask_graph(path, signature, inputs):
    """Asks a SavedModel. Returns {output: value} for each text."""
    graph = tf.saved_model.load(str(path)).signatures[signature]
    outputs = {}
    texts = {name: tf.constant(values) for name, values in inputs.items()}
    for name, value in graph(**texts).items():
        array = value.numpy()
        if array.dtype == object:
            decoded = [text.decode() for text in array.flat]
            array = np.array(decoded, np.object_).reshape(array.shape)
        outputs[name] = array
    count = len(next(iter(inputs.values())))
    return [
        {name: values[row] for name, values in outputs.items()}
        for row in range(count)
    ]


def ask_python(bert, signature, inputs):
    """Asks in Python. Returns {output of the signature: value} for each text.

    {} is for an empty text.
    """
    replies = {
        "answer": lambda: bert.answer(**inputs, n_best=99),
        "answer_n_best": lambda: bert.answer(**inputs, n_best=99),
        "classify": lambda: bert.classify(**inputs),
        "classify_text": lambda: bert.classify(inputs["text"]),
        "embed": lambda: bert.embed(**inputs, tokens=True),
        "fill_mask": lambda: bert.fill_mask(**inputs, top_k=10),
        "next_sentence": lambda: bert.next_sentence(**inputs),
        "tag": lambda: bert.tag(**inputs),
        "tag_words": lambda: ask_model(
            bert.prepared,
            bert.task("tag"),
            [{"words": text.split()} for text in inputs["text"]],
        ),
        "tokenize": lambda: bert.tokenize(**inputs),
    }[signature]()
    as_outputs = AS_OUTPUTS[signature]
    return [reply and as_outputs(reply) for reply in replies]


def labels_as_outputs(reply):
    numbers = reply["probabilities"]
    return {
        "label": reply["label"],
        "labels": [*numbers],
        "probabilities": [*numbers.values()],
    }


def tokens_as_outputs(reply):
    return reply | {"lengths": len(reply["tokens"])}


def tags_as_outputs(reply):
    return {
        "words": reply["words"],
        "tags": reply["tags"],
        "probabilities": reply["probabilities"],
        "num_words": len(reply["words"]),
    }


def masks_as_outputs(reply):
    masks = reply["masks"]
    return {
        "num_masks": len(masks),
        "tokens": [[guess["token"] for guess in mask] for mask in masks],
        "probabilities": [
            [guess["probability"] for guess in mask] for mask in masks
        ],
    }


def next_sentence_as_outputs(reply):
    return {"probability": reply["probability"]}


def vectors_as_outputs(reply):
    return {
        "pooled_output": reply["pooled"],
        "mean_output": reply["mean"],
        "mean_normalized": reply["mean_normalized"],
        "sequence_output": reply["sequence"],
        "tokens": reply["tokens"],
        "lengths": len(reply["tokens"]),
    }


def answer_as_outputs(reply):
    return {name: reply[name] for name in (*OUTPUTS, "null_odds")}


def n_best_as_outputs(reply):
    n_best = reply["n_best"]
    lists = {
        plural: [entry[name] for entry in n_best]
        for name, plural in OUTPUTS.items()
    }
    return answer_as_outputs(reply) | lists | {"num_answers": len(n_best)}


# {signature: function that renames the entries of a reply as its outputs}
AS_OUTPUTS = {
    "answer": answer_as_outputs,
    "answer_n_best": n_best_as_outputs,
    "classify": labels_as_outputs,
    "classify_text": labels_as_outputs,
    "embed": vectors_as_outputs,
    "fill_mask": masks_as_outputs,
    "next_sentence": next_sentence_as_outputs,
    "tag": tags_as_outputs,
    "tag_words": tags_as_outputs,
    "tokenize": tokens_as_outputs,
}


class Twins(NamedTuple):
    """What both answer to a request.

    Attributes:
        python: {output: value}, {} for an empty text.
        graph: {output: padded value}.
    """

    python: dict
    graph: dict

    def outputs(self):
        """Yields (name, value in Python, array of the graph) of all outputs."""
        for name, value in self.python.items():
            yield name, value, np.asarray(self.graph[name])


@pytest.fixture(scope="module")
def ask_twins(export_folder):
    """(signature) -> {name of a case: its `Twins`}, asked together, once."""

    @functools.cache
    def ask(signature):
        export, cases = ASKED[signature]
        path = export_folder / export
        fields = next(iter(cases.values()))
        inputs = {
            field: [texts[field] for texts in cases.values()]
            for field in fields
        }
        answers = zip(
            ask_python(serving.load(path), signature, inputs),
            ask_graph(path, signature, inputs),
            strict=True,
        )
        return {
            name: Twins(*pair)
            for name, pair in zip(cases, answers, strict=True)
        }

    return ask


def name_cases(*, blank):
    """Returns (signature, name of a case) as parameters of `twins`.

    They are the cases whose texts are all blank, or the others.
    """
    return [
        pytest.param((signature, name), id=f"{signature}-{name}")
        for signature, (_, cases) in ASKED.items()
        for name, texts in cases.items()
        if ("".join(texts.values()).strip() == "") == blank
    ]


@pytest.fixture(params=name_cases(blank=False))
def twins(request, ask_twins):
    """The answers to a nasty text, or to a pair of them."""
    signature, name = request.param
    return ask_twins(signature)[name]


def is_text(array):
    """Returns whether an output of a graph contains texts."""
    return array.dtype.kind in "OU"


def cut(array, value):
    """Returns an array of the graph without the padding after a list."""
    return array[: len(value)] if isinstance(value, list) else array


@pytest.mark.parametrize("twins", name_cases(blank=True), indirect=True)
def test_only_in_python_a_blank_text_has_no_answer(twins):
    assert not twins.python
    assert twins.graph


def test_answers_have_the_outputs_of_the_graph(twins):
    assert twins.python.keys() == twins.graph.keys()


def test_texts_of_answers_are_those_of_the_graph(twins):
    for name, value, array in twins.outputs():
        if is_text(array):
            assert value == cut(array, value).tolist(), name


def test_numbers_of_answers_are_those_of_the_graph(twins):
    """To the digits that Python rounds to."""
    for name, value, array in twins.outputs():
        if not is_text(array):
            np.testing.assert_allclose(
                value, cut(array, value), 1e-4, 1e-4, err_msg=name
            )


def test_the_graph_pads_answers_with_blanks(twins):
    for name, value, array in twins.outputs():
        if isinstance(value, list):
            blanks = [""] if is_text(array) else [0, -1]
            assert np.isin(array[len(value) :], blanks).all(), name
