"""The card of an export: its code runs, and it says what was checked."""

import contextlib
import dataclasses
import io
import re

import pytest

import exporting
import modeling
import serving
from model_folders.scores import Scores
from tests.support.serving.engines import ENGINES, needs_engine
from tests.support.serving.exports import (
    LABELS,
    LENGTH,
    TAGS,
    create_model,
    create_options,
)

FORMATS = ENGINES[:2]
# What a card says of files that run without TensorFlow.
WITHOUT_PROJECT = "runs without this project too"
NOT_SCORED = "Nothing was scored"
PRECISION = "- Precision of `model.tflite`: "
WINDOWS = {
    "max_seq_length": LENGTH,
    "doc_stride": 9,
    "max_query_length": 8,
    "use_char_offsets": True,
}
TAGGER = {"labels": TAGS, "legal_tags": False}
# {name: (class of the model, its arguments, settings of the head)}
HEADS = {
    "classes": (modeling.BertClassifier, [3], {"labels": LABELS}),
    "pairs": (
        modeling.BertClassifier,
        [3],
        {"labels": LABELS, "num_texts": 2},
    ),
    "windows": (
        modeling.BertClassifier,
        [3],
        {"labels": LABELS, "doc_stride": 8},
    ),
    "multilabel": (
        modeling.BertClassifier,
        [3],
        {"labels": LABELS, "output_mode": "multilabel"},
    ),
    "regression": (
        modeling.BertClassifier,
        [1],
        {"output_mode": "regression"},
    ),
    "tags": (modeling.BertTokenClassifier, [5], TAGGER),
    "vectors": (modeling.BertModel, [], {}),
    "words": (modeling.BertPretrainer, [], {}),
    "answers": (modeling.BertSpanLabeler, [], WINDOWS),
}


def export_head(folder, head, formats, **options):
    """Exports a tiny model, and returns the text of the export's card."""
    kind, arguments, settings = HEADS[head]
    model = create_model(kind, *arguments)
    exporting.export(
        folder, model, settings, create_options(formats, **options)
    )
    return (folder / "README.md").read_text("utf-8")


def run_code(card, folder):
    """Runs the last code in Python that a card shows. Returns its lines."""
    pytest.importorskip("tokenizers")
    code = re.findall("```python\n(.*?)\n```", card, re.DOTALL)[-1]
    assert "import serving" not in code
    assert 10 <= len(code.split("\n")) <= 20
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code.replace("FOLDER", str(folder)), {})
    return printed.getvalue().splitlines()


def parse_numbers(lines):
    """Returns the numbers of a printed array."""
    return [
        float(number)
        for number in re.findall(r"[-\d.e]+\d|\d", " ".join(lines))
    ]


@pytest.fixture(params=FORMATS)
def format(request):
    """A format of an export whose package is installed."""
    return request.param


@pytest.fixture(params=[None, 16])
def length(request):
    """The length of all inputs in WordPieces, None = any."""
    return request.param


@pytest.fixture
def exported(head, format, length, tmp_path):
    """(lines that the code of an export's card prints, the loaded export)."""
    folder = tmp_path / "model"
    card = export_head(folder, head, format, fixed_length=length)
    return run_code(card, folder), serving.load(folder)


def likely_labels(answer):
    """Returns the labels that are more probable than not."""
    probabilities = answer["probabilities"]
    return [label for label in probabilities if probabilities[label] > 0.5]


# {head: what its export answers to the text that the code asks}
ANSWERS = {
    "classes": lambda bert: bert.classify("A text.")["label"],
    "windows": lambda bert: bert.classify("A text.")["label"],
    "pairs": lambda bert: bert.classify("A text.", "A second text.")["label"],
    "multilabel": lambda bert: likely_labels(bert.classify("A text.")),
    "words": lambda bert: bert.fill_mask("The [MASK] is blue.")["masks"][0][0][
        "token"
    ],
    "answers": lambda bert: bert.answer("Who came?", "Ann came.")["answer"],
}
NUMBERS = {
    "regression": lambda bert: [bert.classify("A text.")["value"]],
    "vectors": lambda bert: [*bert.embed("A text.")["mean_normalized"]],
}


@pytest.mark.parametrize("head", ANSWERS)
def test_the_code_of_a_card_prints_the_answer_of_this_project(head, exported):
    lines, bert = exported
    assert lines == [str(ANSWERS[head](bert))]


@pytest.mark.parametrize("head", NUMBERS)
def test_the_code_of_a_card_prints_the_numbers_of_this_project(head, exported):
    lines, bert = exported
    assert parse_numbers(lines) == pytest.approx(NUMBERS[head](bert), abs=1e-5)


@pytest.mark.parametrize("head", ["tags"])
def test_the_code_of_a_card_prints_the_tags_of_this_project(head, exported):
    lines, bert = exported
    # A word has the tag of its first WordPiece.
    firsts = [line for line in lines if not line.startswith("##")]
    tags = [line.split()[1] for line in firsts]
    assert tags == bert.tag("Ann came.")["tags"]


def test_a_card_says_that_nothing_was_scored(tmp_path):
    card = export_head(tmp_path / "model", "classes", "litert,saved_model")
    assert NOT_SCORED in card
    assert f"{PRECISION}float32\n" in card
    assert WITHOUT_PROJECT in card


@needs_engine("litert")
def test_a_card_names_the_precision_of_a_quantized_file(tmp_path):
    card = export_head(tmp_path / "model", "classes", "litert", quantize="int8")
    line = f"{PRECISION}int8, by `--quantize`\n"
    assert line in card
    (label,) = run_code(card, tmp_path / "model")
    assert label in LABELS


def test_a_card_of_a_saved_model_alone_shows_no_other_runtime(tmp_path):
    card = export_head(tmp_path / "model", "classes", "saved_model")
    assert NOT_SCORED not in card
    assert PRECISION not in card
    assert WITHOUT_PROJECT not in card


@pytest.fixture
def scored_card(tmp_path):
    """The text of a card with scores of LiteRT, and none of ONNX."""
    kind, arguments, settings = HEADS["classes"]
    model = create_model(kind, *arguments)
    options = create_options("litert")
    card = exporting.export(tmp_path / "model", model, settings, options)
    assert card
    networks = {**card.networks, "onnx": "onnx/model.onnx"}
    scores = {"litert": Scores({"eval_accuracy": 0.5})}
    return dataclasses.replace(
        card, networks=networks, scores_of_format=scores, is_best_step=True
    ).text()


def test_a_card_shows_the_scores_of_a_file(scored_card):
    assert "## Scores of litert on the dev set\n" in scored_card
    assert "| eval_accuracy | 0.5 |\n" in scored_card
    assert NOT_SCORED not in scored_card


def test_a_card_names_the_files_without_scores(scored_card):
    line = "Not scored on the dev set: `onnx/model.onnx`.\n"
    assert line in scored_card


def test_a_card_says_that_the_dev_set_chose_the_best_step(scored_card):
    assert "The dev set chose the step" in scored_card
