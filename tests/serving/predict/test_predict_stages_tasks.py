"""predict.py on the requests of every task."""

import json
import re

import pytest

import predict
import serving
from options.parsed_command import ParsedCommand
from serving.predict.predict_config import PredictConfig
from serving.text_tasks.asking import ask
from serving.text_tasks.text_task import ReplyOptions
from serving.text_tasks.text_task_registry import list_text_tasks
from tests.support.checkpoints import assert_same
from tests.support.paths import ROOT

# Lines that no task over texts can answer, and a word of each error.
ODD = [
    (b"{", "JSON"),
    ({"text_b": "b"}, "'text_a'"),
    ({"text_a": 7}, "'text_a'.*7"),
    (b"[1]", "object"),
    (b'{"text_a": "\xff"}', "UTF-8"),
    (b'{"text_a": "\\ud800"}', "surrogate"),
    (b'{"text_a": "a", "text_a": "b"}', "repeated"),
    (b"[" * 100_000, "JSON"),
    ({"text": "a", "text_a": "b"}, "'text'.*'text_a'"),
]
TEXT = {"id": 1, "text": "The boat and (the harbor)."}
MASKED = {"id": "a", "text": "The [MASK] light is [MASK]."}
FAR = "boat " * 40
# {task: (kind of export, requests, flags)}
REQUESTS = {
    "classify": ("classifier", [TEXT, {"text_a": "a", "text_b": "b"}], {}),
    "answer": ("squad", [{"question": "Who?", "context": "Anna."}], {}),
    "tag": ("ner", [TEXT, {"words": ["The", "(harbor)."]}], {}),
    "fill-mask": (
        "pretraining",
        [MASKED, {"text": f"[MASK]{FAR}[MASK]"}],
        {"top_k": 3},
    ),
    "next-sentence": ("pretraining", [{"text_a": "a", "text_b": "b"}], {}),
    "embed": ("features", [TEXT, {"text": FAR}], {"tokens": True}),
    "tokenize": ("features", [TEXT], {}),
}


def ask_lines(folder, model, lines, **flags):
    """Runs predict.py on lines, in this process, and returns its replies."""
    (folder / "in").write_bytes(
        b"\n".join(
            line if type(line) is bytes else json.dumps(line).encode()
            for line in lines
        )
    )
    config = PredictConfig.from_values(
        model=str(model),
        input_file=str(folder / "in"),
        output_file=str(folder / "out"),
        **flags,
    )
    status = predict.main(ParsedCommand(config))
    # A reply may hold what `splitlines` takes for the end of a line.
    lines = (folder / "out").read_text().rstrip("\n").split("\n")
    result = [*map(json.loads, lines)]
    assert status == any("error" in reply for reply in result)
    return result


def test_bad_lines_are_errors_between_the_replies(
    tmp_path, saved_models_folder
):
    lines = [TEXT, *(line for line, _ in ODD), TEXT]
    first, *errors, last = ask_lines(
        tmp_path, saved_models_folder / "classifier", lines
    )
    assert first == last
    assert len(errors) == len(ODD)
    for error, (_, word) in zip(errors, ODD, strict=True):
        assert re.search(word, error["error"])


def test_an_error_has_the_number_of_its_line_in_the_file(
    tmp_path, saved_models_folder
):
    # An empty line is passed over, and is counted.
    lines = [b"", TEXT, b"{", b"[1]"]
    _, *errors = ask_lines(tmp_path, saved_models_folder / "classifier", lines)
    assert [error["line"] for error in errors] == [3, 4]


def test_a_surrogate_outside_of_the_texts_is_kept(
    tmp_path, saved_models_folder
):
    line = b'{"text": "The harbor.", "id": "\\ud800"}'
    (reply,) = ask_lines(tmp_path, saved_models_folder / "classifier", [line])
    assert reply["id"] == "\ud800"
    assert reply["label"] in ("no", "maybe", "yes")


@pytest.mark.parametrize("task", REQUESTS)
def test_a_line_is_answered_as_in_python(
    task, tmp_path, load_text_model, saved_models_folder
):
    kind, lines, flags = REQUESTS[task]
    result = ask_lines(
        tmp_path, saved_models_folder / kind, lines, task=task, **flags
    )
    model = load_text_model(kind)
    replies = ask(
        model.loaded_export,
        model.text_task(task),
        lines,
        ReplyOptions(**flags),
    )
    for line, reply, expected in zip(lines, result, replies, strict=True):
        # The reply begins with the fields of the line, but for a mere text.
        kept = line if [*line] != ["text"] else {}
        assert [*reply][: len(kept)] == [*kept]
        assert {name: reply.pop(name) for name in kept} == kept
        for name in kept:
            expected.pop(name, None)
        assert_same(reply, expected)


def read_documented_fields():
    """Returns {text task: names of its fields} of the page about serving."""
    page = (ROOT / "docs/serving.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \|[^|]*\|(.*)\|$", page, re.M)
    return {task: {*re.findall(r"`(\w+)`", fields)} for task, fields in rows}


def test_the_page_describes_every_text_task():
    names = {text_task.name for text_task in list_text_tasks()}
    assert names <= read_documented_fields().keys()


@pytest.mark.parametrize("task", REQUESTS)
def test_the_page_names_every_field_of_a_reply(task, load_text_model):
    kind, lines, flags = REQUESTS[task]
    model = load_text_model(kind)
    replies = ask(
        model.loaded_export,
        model.text_task(task),
        lines,
        ReplyOptions(**flags),
    )
    fields = {name for reply in replies for name in reply}
    # The page says of these that any reply may have them.
    fields -= {"num_wordpieces_cut", "num_masks_cut"}
    assert fields <= read_documented_fields()[task]


PASSAGE = "The light of the harbor is kept by Anna."


def predict_texts(model, *texts, **flags):
    """Runs predict.py on the texts of a command line, in this process."""
    config = PredictConfig.from_values(model=str(model), **flags)
    return predict.main(ParsedCommand(config, arguments=texts))


@pytest.mark.parametrize(
    ("kind", "texts", "num_replies"),
    [
        ("classifier", ["The harbor."], 1),
        ("classifier", ["The harbor.", "A storm!"], 1),
        ("squad", ["Who keeps it?", PASSAGE], 1),
        ("ner", ["The boat", "A sea."], 2),
    ],
)
def test_texts_of_the_command_line_are_answered(
    kind, texts, num_replies, export_folders, capsys
):
    assert predict_texts(export_folders[kind], *texts) == 0
    result = [*map(json.loads, capsys.readouterr().out.splitlines())]
    assert len(result) == num_replies
    model = serving.load(export_folders[kind])
    text_task = model.text_task()
    groups = [texts] if num_replies == 1 else [[text] for text in texts]
    requests = [
        dict(zip(text_task.field_names, texts, strict=False))
        for texts in groups
    ]
    replies = ask(model.loaded_export, text_task, requests)
    for reply, expected in zip(result, replies, strict=True):
        assert reply.keys() == expected.keys()
        for name in ("label", "answer", "words"):
            assert reply.get(name) == expected.get(name)


@pytest.mark.parametrize(
    ("kind", "texts", "flags", "word"),
    [
        ("squad", ["Who?"], {}, "question, context"),
        ("classifier", ["a", "b", "c"], {}, "text_a, text_b"),
        ("ner", ["a"], {"input_file": "b"}, "--input_file=b"),
        ("ner", [__file__], {}, "--input_file"),
    ],
)
def test_texts_that_no_task_can_answer_are_refused(
    kind, texts, flags, word, export_folders, capsys
):
    with pytest.raises(ValueError, match=word):
        predict_texts(export_folders[kind], *texts, **flags)
    assert not capsys.readouterr().out
