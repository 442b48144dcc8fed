"""What a folder says of its head, and outputs put in the labels' order."""

import importlib
import itertools
import json
from types import SimpleNamespace

import numpy as np
import pytest

import modeling
from data.classification import glue
from modeling.checkpoints.huggingface.config import CLASSES
from tests.modeling.checkpoints.test_huggingface import CONFIG, write
from tests.models import built
from tools import convert_checkpoint
from training import checks, model_folder

MNLI = ["contradiction", "entailment", "neutral"]
RUNNERS = {
    name: importlib.import_module(name).Config
    for name in ("run_classifier", "run_ner", "run_squad", "run_swag")
}
MULTILABEL = "multi_label_classification"


@pytest.mark.parametrize(
    ("saved", "labels", "order"),
    [
        (MNLI, [MNLI], [0, 1, 2]),
        (["entailment", "neutral", "contradiction"], [MNLI], [2, 0, 1]),
        (["CONTRADICTION", "Neutral", "ENTAILMENT"], [MNLI], [0, 2, 1]),
        (["a", "A"], [["A", "a"]], [1, 0]),
        # Names that differ in case only have no other form.
        (["a", "A"], [["A", "b"]], None),
        (["yes", "YES"], [["Yes", "no"]], None),
        (["not equivalent", "equivalent"], [["0", "1"]], None),
        (["entailment", "not_entailment"], [MNLI], None),
        (["Not-Entailment", "entailment"], [["entailment", "not_entailment"]])
        + ([1, 0],),
        (["+", "-"], [["-", "+"]], [1, 0]),
        (["[No]", " yes."], [["Yes", "no"]], [1, 0]),
        (["<no>", "yes!"], [["*yes*", "#no"]], [1, 0]),
        # Signs are no punctuation.
        (["-1", "0", "2"], [["1", "0", "2"]], None),
        (["A+", "B"], [["A-", "B"]], None),
        (["c#", "c++"], [["C++", "C#"]], [1, 0]),
        (["是", "否"], [["否", "是"]], [1, 0]),
        # One letter, and a letter with an accent.
        (["ja", "ne\u0301"], [["n\xe9", "ja"]], [1, 0]),
        ([], [], None),
        ([], [MNLI], None),
    ],
)
def test_labels_are_found_by_their_names(saved, labels, order):
    assert modeling.find_order(saved, labels) == order


@pytest.mark.parametrize("task", glue.LABEL_WORDS)
def test_words_of_glue_stand_for_its_numbers(task):
    words = glue.LABEL_WORDS[task]
    names = [["0", "1"], words]
    assert modeling.find_order([w.upper() for w in words], names) == [0, 1]
    assert modeling.find_order(words[::-1], names) == [1, 0]
    # Another task's words are none of them.
    for other, others in glue.LABEL_WORDS.items():
        found = modeling.find_order(others, names)
        assert (found is None) == (other != task)


@pytest.mark.parametrize("save", ["save_huggingface", "save_release"])
@pytest.mark.parametrize(
    "create", [modeling.BertClassifier, modeling.BertTokenClassifier]
)
def test_outputs_are_put_in_the_labels_order(tmp_path, save, create):
    config = modeling.BertConfig.from_dict(CONFIG)
    model, copy = built(create(config, 3, seed=1)), create(config, 3, seed=2)
    modeling.named_variables(model)["output_bias"].assign([1.0, 2.0, 3.0])
    there = ["entailment", "neutral", "contradiction"]
    getattr(modeling, save)(model, tmp_path, labels=there)
    features = {"input_ids": np.arange(8)[None]}
    expected = np.asarray(model(features))
    report = modeling.load_checkpoint(copy, tmp_path, labels=[MNLI])
    assert not report.missing
    found = np.asarray(copy(features))
    np.testing.assert_allclose(found, expected[..., [2, 0, 1]], atol=1e-6)
    # Other names, and none, leave them as they are.
    for labels in ([["a", "b", "c"]], ()):
        modeling.load_checkpoint(copy, tmp_path, labels=labels)
        np.testing.assert_allclose(copy(features), expected, atol=1e-6)


def describe(folder, file, values):
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(json.dumps(values))
    return folder


HEADS = {
    "classifier": {"architectures": ["BertForSequenceClassification"]},
    "multilabel": {
        "architectures": ["BertForSequenceClassification"],
        "problem_type": MULTILABEL,
    },
    "tags": {"architectures": ["BertForTokenClassification"]},
    "spans": {"architectures": ["BertForQuestionAnswering"]},
    "choices": {"architectures": ["BertForMultipleChoice"]},
    "encoder": {"architectures": ["BertModel"]},
    "unknown": {"architectures": ["BertCrfForTagging"]},
    "nothing": {},
}


def check_head(folder, name, problem_type):
    """Checks the head of a run in a folder for a task of another command."""
    task = SimpleNamespace(problem_type=problem_type)
    config = SimpleNamespace(head=name, has_checkpoint=True)
    checks.check_head(task, config, model_folder.read(folder), None)


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("name", CLASSES)
def test_a_config_tells_heads_apart(tmp_path, kind, name):
    values = HEADS[kind]
    describe(tmp_path, "config.json", CONFIG | {"architectures": None} | values)
    found = model_folder.read(tmp_path / "model.safetensors").model_class
    assert found == {
        **dict.fromkeys(["classifier", "multilabel"], "BertClassifier"),
        "tags": "BertTokenClassifier",
        "spans": "BertSpanLabeler",
        "choices": "BertMultipleChoice",
        "encoder": "BertModel",
    }.get(kind)
    if {found, name} & {None, "BertModel", "BertPretrainer"} or found == name:
        check_head(tmp_path, name, values.get("problem_type"))
    else:
        message = f"{tmp_path} contains a {found}, but this task needs a {name}"
        with pytest.raises(ValueError, match=message):
            check_head(tmp_path, name, None)


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("config.json", {"problem_type": MULTILABEL}),
        (
            "model.json",
            {
                "version": 1,
                "task": {"name": "BertClassifier", "problem_type": MULTILABEL},
            },
        ),
        (
            "model.json",
            {
                "version": 1,
                "task": {"name": "BertClassifier", "output_mode": "multilabel"},
            },
        ),
    ],
)
def test_what_outputs_are_is_told_apart(tmp_path, caplog, file, values):
    describe(tmp_path, file, values)
    check_head(tmp_path, "BertClassifier", MULTILABEL)
    check_head(tmp_path, "BertModel", None)
    for given in ("single_label_classification", "regression"):
        message = f"has problem_type={MULTILABEL}, but this task needs {given}"
        with pytest.raises(ValueError, match=message):
            check_head(tmp_path, "BertClassifier", given)
    assert not caplog.text
    # Labels that exclude each other say more than the file.
    check_head(tmp_path, "BertClassifier", None)
    assert "this task chooses one label" in caplog.text
    if file != "config.json":
        checkpoint = tmp_path / "model.ckpt-3"
        found = model_folder.read(checkpoint).task["problem_type"]
        assert found == MULTILABEL
        with pytest.raises(
            ValueError, match="this task needs a BertMultipleChoice"
        ):
            check_head(tmp_path, "BertMultipleChoice", None)


@pytest.mark.parametrize(
    ("runner", "other"), [*itertools.permutations(RUNNERS, 2)]
)
def test_the_head_is_named_before_its_flags(tmp_path, runner, other):
    """Lengths of another task's head, and labels, are no news of this one."""
    head = {"max_seq_length": 8, "output_mode": "multilabel"}
    name, other_name = (
        object.__new__(RUNNERS[each]).head for each in (runner, other)
    )
    task = {"name": other_name, **head}
    described = {"version": 1, "task": task, "origin": {}}
    for folder in ("run", "best"):
        describe(tmp_path / folder, "model.json", described)
    (tmp_path / "run/model.ckpt-3.index").touch()
    message = f"contains a {task['name']}, but this task needs a {name}"
    for given in (
        {"init_checkpoint": str(tmp_path / "best"), "do_predict": True},
        {"output_dir": str(tmp_path / "run"), "do_predict": True},
        {"output_dir": str(tmp_path / "run"), "do_train": True},
    ):
        with pytest.raises(ValueError, match=message):
            RUNNERS[runner](**{"output_dir": str(tmp_path / "new")} | given)


@pytest.mark.parametrize("entries", [{}, {"origin": {}}])
def test_a_conversion_takes_labels_in_one_order(tmp_path, entries):
    """Outputs that have other names may have new ones, but not swapped ones."""
    release = tmp_path / "release"
    config = modeling.BertConfig.from_dict(CONFIG)
    task = {"name": "BertClassifier", "labels": ["no", "yes"]}
    text = json.dumps({"version": 1, "task": task, **entries})
    modeling.save_release(
        built(modeling.BertClassifier(config, 2)),
        release,
        labels=["yes", "no"],
        files={"model.json": text},
    )

    def convert(name):
        options = {"init_checkpoint": str(release), "model": "classifier"}
        output = tmp_path / name
        convert_checkpoint.main(
            convert_checkpoint.Config(
                output_dir=str(output), output_format="tf1", **options
            )
        )
        return modeling.load_labels(output)

    with pytest.raises(ValueError, match="model.json orders .*'no', 'yes'"):
        convert("swapped")
    for labels in (["no", "yes"], ["bad", "good"]):
        modeling.checkpoints.labels.save_labels(release, labels)
        assert convert(labels[0]) == labels


def test_names_of_models_are_those_of_the_network():
    ours = {*convert_checkpoint.MODELS.values()}
    assert ours == {*CLASSES} == {*modeling.ARCHITECTURES.values()}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"label2id": {"yes": 1, "no": 0}}, ["no", "yes"]),
        ({"label2id": {"yes": "1", "no": "0"}}, ["no", "yes"]),
        (
            {
                "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
                "label2id": {"yes": 0, "no": 1},
            },
            ["yes", "no"],
        ),
        ({"label2id": {"LABEL_1": 1, "LABEL_0": 0}}, None),
        ({"label2id": {"yes": 1, "no": 1}}, None),
        ({"label2id": {}}, None),
        ({"label2id": ["no", "yes"]}, None),
        # Left over from another task.
        (
            {
                "id2label": {"0": "no", "1": "yes"},
                "label2id": {"LABEL_0": 0, "LABEL_1": 1},
            },
            ["no", "yes"],
        ),
    ],
)
def test_labels_may_be_numbered(tmp_path, values, expected):
    write(tmp_path, {}, **values)
    assert modeling.load_labels(tmp_path) == expected


def test_numbers_that_contradict_each_other_are_refused(tmp_path):
    write(
        tmp_path,
        {},
        id2label={"0": "no", "1": "yes"},
        label2id={"no": 1, "yes": 0},
    )
    with pytest.raises(ValueError, match=r"config.json: `id2label` orders"):
        modeling.load_labels(tmp_path)
