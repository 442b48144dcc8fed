"""Model cards show the names in a user's data exactly as they are."""

import ast
import itertools
import re

import pytest

from model_folders.cards import model_card
from model_folders.scores import LabelScores, Scores

NASTY = [
    "<script>alert(1)</script>",
    "<b>",
    "a|b",
    "`code`",
    "``",
    "*bold*",
    "**",
    "_under_",
    "snake_case",
    "[a](b)",
    "![a](b)",
    "~~gone~~",
    "&lt;",
    "R&D",
    "back\\slash",
    "ends\\",
    "# heading",
    "<!-- gone -->",
    "$x$",
    "{{ card }}",
    "{% if %}",
    " spaced ",
    "'\"",
    "---",
]

# Arguments of each class of cards beside those of `Card`, with nasty names.
RESULTS = Scores(
    {"f1_macro": 0.5}, [LabelScores(name, 0.5, 0.5, 0.5, 1) for name in NASTY]
)
FILES = {f"dev_predictions {name.replace('/', '')}": 1 for name in NASTY}
VALUES_OF_CLASS = {
    model_card.WeightsCard: {"results": RESULTS},
    model_card.HuggingFaceCard: {},
    model_card.RunCard: {
        "results": RESULTS,
        "files": FILES,
        "export": "<b>|`",
        "table": "`a|b`",
    },
    model_card.ExportCard: {
        "files": FILES,
        "networks": {},
        "precision": "float32",
        "fixed_length": None,
        "output": "probabilities",
        "scores_of_format": {"saved_model": RESULTS},
    },
}


def create_card(card_class, **values):
    """Returns a card that shows the nasty names wherever a name can be."""
    data = [["train", name, 5, 1] for name in NASTY]
    provenance = {
        "script": "run_classifier.py",
        "weights": "<script>",
        "settings": {"data": data},
        "versions": {"python": "3.12"},
        "command": {"label_column": "```\n```\n<script>"},
    }
    return card_class(
        model_json={"task": {"name": "BertClassifier"}, "origin": provenance},
        labels=NASTY,
        **VALUES_OF_CLASS[card_class] | values,
    )


def test_a_card_of_an_unknown_class_says_so():
    card = model_card.WeightsCard(model_json={"version": 1})
    assert card.model_class is None
    assert "A BERT of an unknown class." in card.text()


def parse_markdown(text):
    """Returns the tokens of Markdown, with those inside lines."""
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark").enable(
        ["table", "strikethrough"]
    )
    blocks = parser.parse(text)
    inner = [token for block in blocks for token in block.children or ()]
    return blocks, inner


@pytest.fixture(
    params=[model_card.WeightsCard, model_card.RunCard, model_card.ExportCard]
)
def card_class(request):
    """Each class of cards that shows scores."""
    return request.param


@pytest.fixture
def nasty_card(card_class):
    """The tokens of a card of nasty names, and those inside its lines."""
    return parse_markdown(create_card(card_class).text())


def codes_of(inner):
    """Returns the texts of the code inside lines."""
    return [token.content for token in inner if token.type == "code_inline"]


def test_nasty_names_add_no_html_and_no_format(card_class, nasty_card):
    blocks, inner = nasty_card
    # The mark of a run's card is the only HTML.
    html = [block.content for block in blocks if block.type == "html_block"]
    assert len(html) == (card_class is model_card.RunCard)
    allowed = {"text", "code_inline", "softbreak", "text_special"}
    assert {token.type for token in inner} <= allowed


def test_nasty_names_are_code_as_they_are(nasty_card):
    _, inner = nasty_card
    assert {*NASTY} <= {*codes_of(inner)}


def test_nasty_names_are_cells_as_they_are(nasty_card):
    blocks, _ = nasty_card
    lines = [
        "".join(token.content for token in block.children or ())
        for block in blocks
        if block.type == "inline"
    ]
    for name in NASTY:
        # A cell has no space at its ends.
        assert lines.count(name.strip()) >= 2, name


@pytest.mark.parametrize(
    "card_class", [model_card.ExportCard, model_card.RunCard]
)
def test_nasty_names_of_files_are_code_as_they_are(card_class):
    _, inner = parse_markdown(create_card(card_class).text())
    codes = [code.rstrip() for code in codes_of(inner)]
    for name in NASTY:
        file = f"dev_predictions {name.replace('/', '')}"
        assert file.rstrip() in codes


def test_the_title_of_a_card_lists_all_sets_of_nasty_names(nasty_card):
    blocks, _ = nasty_card
    (title,) = [
        block.content for block in blocks if block.content.startswith("A class")
    ]
    assert len(re.findall("trained on", title)) == len(NASTY)


@pytest.mark.parametrize(
    ("card_class", "scores"),
    [
        (model_card.ExportCard, "Scores of saved_model on the dev set"),
        (model_card.RunCard, "Results"),
    ],
)
def test_tables_keep_their_columns_and_fences_their_blocks(card_class, scores):
    blocks, _ = parse_markdown(create_card(card_class).text())
    heads = [block for block in blocks if block.type == "thead_open"]
    # Scores, labels, files and data.
    assert len(heads) == 4
    fences = [block for block in blocks if block.type == "fence"]
    assert [fence.info for fence in fences] == ["bash", "python", "bash"]
    assert "<script>" in fences[-1].content
    headings = [
        after.content
        for block, after in itertools.pairwise(blocks)
        if block.type == "heading_open"
    ]
    assert headings[1:] == [
        scores,
        "Use",
        "Files",
        "Model",
        "Training",
        "License",
    ]


def test_the_metadata_of_the_hub_contains_no_name_of_the_user():
    yaml = pytest.importorskip("yaml")
    card = create_card(model_card.HuggingFaceCard).text()
    _, metadata, _ = card.split("---\n", 2)
    assert yaml.safe_load(metadata) == {
        "library_name": "transformers",
        "pipeline_tag": "text-classification",
        "tags": ["bert"],
    }


@pytest.mark.parametrize("folder", ['a"b', "a\\b", "a'b", "a\nb", "ä"])
def test_the_code_names_any_folder(folder):
    text = create_card(model_card.RunCard, export=folder).text()
    (code,) = re.findall("```python\n(.*?)\n```", text, re.DOTALL)
    strings = [
        node.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant)
    ]
    assert folder in strings
