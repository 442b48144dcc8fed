"""predict.py on the requests of every task."""

import json
import re
from unittest import mock

import pytest

import predict
import serving
from serving import answers, requests
from tests.golden import ROOT

# Lines for a classifier, of which few can be answered.
ODD = [
    b"",
    {"text_a": "The harbor."},
    b"{",
    {"text_b": "b"},
    {"text_a": 7},
    b"[1]",
    b'{"text_a": "\xff"}',
    b'{"text_a": "\\ud800"}',
    b'{"text_a": "a", "id": NaN}',
    b"[" * 100_000,
    {"text": "a", "text_a": "b"},
    b'{"text": "The harbor.", "id": "\\ud800"}',
]


def row_of(served, request, row):
    return {
        name: values[row] for name, values in served.outputs[request].items()
    }


def ask(folder, model, lines, **flags):
    """Runs predict.py on lines, in this process, and returns its answers."""
    (folder / "in").write_bytes(
        b"\n".join(
            line if type(line) is bytes else json.dumps(line).encode()
            for line in lines
        )
    )
    config = predict.Config(
        model=str(model),
        input_file=str(folder / "in"),
        output_file=str(folder / "out"),
        keep_going=True,
        **flags,
    )
    assert predict.main(config, []) == 0
    # An answer may hold what `splitlines` takes for the end of a line.
    lines = (folder / "out").read_text().rstrip("\n").split("\n")
    return [*map(json.loads, lines)]


@pytest.fixture(scope="module")
def answered(tmp_path_factory, export_folder, exports):
    """{task: answers to what an export was asked}."""
    folder = tmp_path_factory.mktemp("predict")

    def asked(model, number=0):
        _, inputs = exports[model].requests[number]
        return [
            {"id": i, **dict(zip(inputs, texts, strict=True))}
            for i, texts in enumerate(zip(*inputs.values(), strict=True))
        ]

    masked = [x for x in asked("pretraining") if "[MASK]" in x["text"]]
    masked.append({"id": "far", "text": "boat " * 40 + "[MASK]"})
    words = [{"words": ["The", "(harbor)."]}, {"words": ["a b"]}, {"words": 1}]
    return {
        task: ask(folder, export_folder / model, lines, **flags)
        for task, model, lines, flags in (
            ("classify", "classifier", asked("classifier") + ODD, {}),
            ("fill-mask", "pretraining", masked, {"top_k": 3}),
            ("tag", "ner", words + asked("ner", 1), {}),
            ("embed", "features", asked("features"), {"tokens": True}),
        )
    }


def test_classify(answered, exports):
    answers = answered["classify"]
    outputs = exports["classifier"].outputs[0]
    for i, answer in enumerate(answers[:9]):
        assert answer["id"] == i
        assert answer["label"] == outputs["label"][i]
        assert list(answer["probabilities"]) == ["no", "maybe", "yes"]
        assert list(answer["probabilities"].values()) == pytest.approx(
            outputs["probabilities"][i], abs=1e-5
        )
    # An empty line is passed over; the number is that of the line.
    single, *errors, odd_id = answers[9:]
    assert single["label"] in ("no", "maybe", "yes") and "id" not in single
    # The answers around bad lines are there, and in their order.
    assert odd_id == {**single, "id": "\ud800"}
    assert [error["line"] for error in errors] == [*range(12, 21)]
    words = """
        JSON 'text_a'.*missing 'text_a'.*7 object UTF-8 surrogate "id":.NaN
        nested 'text'.*'text_a'
    """
    for error, word in zip(errors, words.split(), strict=True):
        assert re.search(word, error["error"])


def test_fill_mask(answered, exports):
    answers = answered["fill-mask"]
    good = exports["pretraining"]
    *answers, far = answers
    assert far["id"] == "far"
    assert "[MASK]" in far["error"]
    cut = [answer.get("num_masks_cut", 0) for answer in answers]
    assert cut == [0, 0, 1]
    for answer in answers:
        row = row_of(good, 0, answer["id"])
        assert len(answer["masks"]) == row["num_masks"]
        for mask, entries in enumerate(answer["masks"]):
            tokens = [entry["token"] for entry in entries]
            assert tokens == row["tokens"][mask, :3].tolist()
            assert [entry["probability"] for entry in entries] == pytest.approx(
                row["probabilities"][mask, :3], abs=1e-5
            )
    assert len(answers) == 3


def test_tag(answered, exports):
    first, *errors = answered["tag"][:3]
    answers = answered["tag"][3:]
    assert first["words"] == ["The", "(harbor)."]
    assert len(first["tags"]) == 2
    assert all("'words'" in each["error"] for each in errors)
    for i, answer in enumerate(answers):
        row = row_of(exports["ner"], 1, i)
        assert answer["words"] == [word for word in row["words"] if word]
        assert answer["tags"] == [tag for tag in row["tags"] if tag]
        count = row["num_words"]
        assert answer["probabilities"] == pytest.approx(
            row["probabilities"][:count], abs=1e-5
        )


def test_embed(answered, exports):
    answers = answered["embed"]
    for i, answer in enumerate(answers):
        row = row_of(exports["features"], 0, i)
        assert answer["pooled"] == pytest.approx(row["pooled_output"], abs=1e-4)
        assert answer["tokens"] == row["tokens"][: row["lengths"]].tolist()
        assert len(answer["sequence"]) == row["lengths"]
        assert answer["sequence"][-1] == pytest.approx(
            row["sequence_output"][row["lengths"] - 1], abs=1e-4
        )
        for name, output in (
            ("mean", "mean_output"),
            ("mean_normalized", "mean_normalized"),
        ):
            assert answer[name] == pytest.approx(row[output], abs=1e-4)


def test_the_page_names_every_field(answered):
    page = (ROOT / "docs/serving.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|[^|]*\|(.*)\|$", page, re.M))
    for name in predict._TASKS:
        assert name in rows, name
    # The page says of these that any answer may have them.
    shared = {"id", "line", "error", "num_wordpieces_cut", "num_masks_cut"}
    for task, found in answered.items():
        fields = set[str]().union(*found) - shared
        assert fields <= {*re.findall(r"`(\w+)`", rows[task])}, task


def test_a_line_without_an_answer_leaves_the_batch_as_it_is(export_folder):
    model = serving.load(export_folder / "pretraining")
    model.engine.run = run = mock.Mock(wraps=model.engine.run)
    task = model.task("fill-mask")
    end = "boat " * 40
    texts = [f"The [MASK] light {'boat ' * i}" for i in range(31)]

    def ask_with(last):
        batch = [
            requests.Item(number, {"text": text})
            for number, text in enumerate((*texts, last), start=1)
        ]
        answerer = answers.Answerer(task)
        written = [*answerer.answer(batch)]
        return written, (answerer.num_answers, answerer.num_errors)

    # No [MASK] in what the model reads, which only its outputs tell.
    found, counts = ask_with(f"{end}[MASK]")
    assert counts == (31, 1) and found[31]["line"] == 32
    assert "[MASK]" in found[31]["error"]
    assert run.call_count == 1
    expected, counts = ask_with(f"[MASK] {end}")
    assert counts == (32, 0) and found[:31] == expected[:31]
    with pytest.raises(ValueError, match=r"text 2: .*\[MASK\]"):
        model.fill_mask([texts[0], f"{end}[MASK]"])
    assert run.call_count == 3


PASSAGE = "The light of the harbor is kept by Anna."


def answer_texts(model, *texts, **flags):
    """Runs predict.py on the texts of a command line, in this process."""
    return predict.main(predict.Config(model=str(model), **flags), texts)


@pytest.mark.parametrize(
    "kind, texts, num_answers",
    [
        ("classifier", ["The harbor."], 1),
        ("classifier", ["The harbor.", "A storm!"], 1),
        ("squad", ["Who keeps it?", PASSAGE], 1),
        ("features", [""], 1),
        ("ner", ["The boat", "", "A sea."], 3),
    ],
)
def test_texts_of_the_command_line(kind, texts, num_answers, folders, capsys):
    assert answer_texts(folders[kind], *texts) == 0
    found = [*map(json.loads, capsys.readouterr().out.splitlines())]
    assert len(found) == num_answers
    task = serving.load(folders[kind]).task()
    groups = [texts] if num_answers == 1 else [[text] for text in texts]
    requests = [dict(zip(task.fields, x, strict=False)) for x in groups]
    for answer, expected in zip(found, task.answer(requests), strict=True):
        assert answer.keys() == expected.keys()
        for name in ("label", "answer", "words"):
            assert answer.get(name) == expected.get(name)


@pytest.mark.parametrize(
    "kind, texts, flags, word",
    [
        ("squad", ["Who?"], {}, "question, context"),
        ("classifier", ["a", "b", "c"], {}, "text_a, text_b"),
        ("pretraining", ["a [MASK]", "a"], {}, r"\[MASK\]"),
        ("ner", ["a"], {"input_file": "b"}, "--input_file=b"),
    ],
)
def test_texts_that_no_task_can_answer(
    kind, texts, flags, word, folders, capsys
):
    with pytest.raises(ValueError, match=word):
        answer_texts(folders[kind], *texts, **flags)
    assert not capsys.readouterr().out


def test_the_newest_of_numbered_versions_is_asked(tmp_path, export_folder):
    # Links, as a copy of each takes long; the others cannot be loaded.
    for name in ("2", "9", "latest", "11x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").write_bytes(b"damaged")
    (tmp_path / "10").symlink_to(export_folder / "features")
    # One that is still being copied.
    (tmp_path / "12").mkdir()
    assert serving.load(tmp_path).tasks[0] == "embed"
