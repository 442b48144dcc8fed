"""The calls of a model that its card shows."""

import pytest

from model_folders.cards import example_calls

TAGGER = "BertTokenClassifier"
CALLS = {
    "single texts": (
        "BertClassifier",
        {"num_texts": 1},
        'classify("A text.")',
        '"A text."',
    ),
    "pairs": (
        "BertClassifier",
        {"num_texts": 2},
        'classify("A text.", "A second text.")',
        '"A text." "A second text."',
    ),
    "ranking": (
        "BertClassifier",
        {"num_texts": 2, "task_name": "ranking"},
        'rerank("A query.", ["A passage.", "A second passage."])',
        '--task=rerank "A query." "A passage." "A second passage."',
    ),
    "questions": (
        "BertSpanLabeler",
        {},
        'answer("Who came?", "Ann came.")',
        '"Who came?" "Ann came."',
    ),
}


@pytest.mark.parametrize(
    ("model_class", "settings", "python", "arguments"),
    CALLS.values(),
    ids=CALLS,
)
def test_choose_example_fits_what_the_model_reads(
    model_class, settings, python, arguments
):
    example = example_calls.choose_example(model_class, settings)
    assert example.format_python() == python
    assert example.format_arguments() == arguments


@pytest.mark.parametrize("name", ["BertMultipleChoice", "MyModel", None])
def test_find_example_of_a_model_that_reads_no_texts_is_none(name):
    assert example_calls.choose_example(name, {}) is None


def test_the_input_of_a_ranking_is_the_query_and_one_passage():
    model_class, settings, _, _ = CALLS["ranking"]
    example = example_calls.choose_example(model_class, settings)
    assert example.input_texts() == ("A query.", "A passage.")


def test_list_example_commands_asks_one_text_and_starts_a_server():
    assert example_calls.list_example_commands(TAGGER, {}, "my model") == [
        "python predict.py --model='my model' \"Ann came.\"",
        "python serve.py --model='my model'",
    ]


@pytest.mark.parametrize(
    ("model_class", "table", "answers"),
    [
        ("BertClassifier", "rows.csv", "answers.csv"),
        (TAGGER, "rows.jsonl", "answers.jsonl"),
    ],
    ids=["classifier", "tagger"],
)
def test_list_example_commands_answers_the_table(model_class, table, answers):
    commands = example_calls.list_example_commands(model_class, {}, "m", table)
    assert commands[1] == (
        f"python predict.py --model=m --input_file={table} "
        f"--output_file={answers}"
    )


def test_list_example_commands_asks_no_columns_of_words_and_tags():
    commands = example_calls.list_example_commands(TAGGER, {}, "m", "words.txt")
    assert len(commands) == 2


@pytest.mark.parametrize(
    ("model_class", "export"),
    [(TAGGER, None), ("BertMultipleChoice", "m")],
    ids=["no export", "no texts"],
)
def test_list_example_commands_is_empty_without_an_example(model_class, export):
    assert example_calls.list_example_commands(model_class, {}, export) == []
