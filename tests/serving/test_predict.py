"""predict.py on the requests of every task, run as a user does."""

import json
import re
from unittest import mock

import pytest

import predict
import serving
from serving import answers, requests
from tests import script_runner
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


@pytest.fixture(scope="module")
def answered(tmp_path_factory, export_folder, exports):
    """{task: (answers to what an export was asked, the run of predict.py)}."""
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
    commands = {}
    for task, model, lines, flags in (
        ("classify", "classifier", asked("classifier") + ODD, {}),
        ("fill-mask", "pretraining", masked, {"top_k": 3}),
        ("tag", "ner", words + asked("ner", 1), {}),
        ("embed", "features", asked("features"), {"tokens": True}),
    ):
        lines = [
            x if type(x) is bytes else json.dumps(x).encode() for x in lines
        ]
        (folder / f"{task}.in").write_bytes(b"\n".join(lines))
        flags |= {"model": export_folder / model, "keep_going": True}
        flags |= {"input_file": f"{task}.in", "output_file": f"{task}.out"}
        commands[task] = "predict.py", folder, flags
    done = script_runner.run_all([*commands.values()])
    answers = {}
    for task, one in zip(commands, done, strict=True):
        one.check()
        # An answer may hold what `splitlines` takes for the end of a line.
        lines = (folder / f"{task}.out").read_text().rstrip("\n").split("\n")
        answers[task] = [*map(json.loads, lines)], one
    return answers


def test_classify(answered, exports):
    answers, done = answered["classify"]
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
    for error, part in zip(
        errors,
        [
            "the row is not valid JSON",
            "'text_a' is missing; the fields of classify are text_a, text_b",
            "'text_a' must be a string. Received: 7",
            "the row must contain a JSON object",
            "not UTF-8",
            "half of a surrogate pair",
            '"id": NaN is not a finite number',
            "nested too deeply",
            "'text' and 'text_a' are the same field; use only one",
        ],
        strict=True,
    ):
        assert part in error["error"]
        assert f"line {error['line']}: {error['error']}" in done.stderr
    assert "11 lines answered, 9 failed" in done.stderr


def test_fill_mask(answered, exports):
    answers, _ = answered["fill-mask"]
    good = exports["pretraining"]
    *answers, far = answers
    assert far["id"] == "far"
    assert "every [MASK] is beyond the model's maximum length" in far["error"]
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
    (first, *errors), answers = answered["tag"][0][:3], answered["tag"][0][3:]
    assert first["words"] == ["The", "(harbor)."]
    assert len(first["tags"]) == 2
    assert "one word without white space" in errors[0]["error"]
    assert "'words' must be a list" in errors[1]["error"]
    for i, answer in enumerate(answers):
        row = row_of(exports["ner"], 1, i)
        assert answer["words"] == [word for word in row["words"] if word]
        assert answer["tags"] == [tag for tag in row["tags"] if tag]
        count = row["num_words"]
        assert answer["probabilities"] == pytest.approx(
            row["probabilities"][:count], abs=1e-5
        )


def test_embed(answered, exports):
    answers, _ = answered["embed"]
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
    for task, (found, _) in answered.items():
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
        written = [*map(json.loads, answerer.answer(batch))]
        return written, (answerer.num_answers, answerer.num_errors)

    # No [MASK] in what the model reads, which only its outputs tell.
    found, counts = ask_with(f"{end}[MASK]")
    assert counts == (31, 1) and found[31]["line"] == 32
    assert "beyond the model's maximum" in found[31]["error"]
    assert run.call_count == 1
    expected, counts = ask_with(f"[MASK] {end}")
    assert counts == (32, 0) and found[:31] == expected[:31]
    with pytest.raises(ValueError, match="text 2: every .MASK. is beyond"):
        model.fill_mask([texts[0], f"{end}[MASK]"])
    assert run.call_count == 3


def test_the_newest_of_numbered_versions_is_asked(tmp_path, export_folder):
    # Links, as a copy of each takes long; the others cannot be loaded.
    for name in ("2", "9", "latest", "11x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").write_bytes(b"damaged")
    (tmp_path / "10").symlink_to(export_folder / "features")
    # One that is still being copied.
    (tmp_path / "12").mkdir()
    assert serving.load(tmp_path).tasks[0] == "embed"
