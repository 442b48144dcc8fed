"""Flags of the classifier, and weights of classes."""

import json

import pytest

import run_classifier
from data.classification import classifier_flags as cf
from data.classification.examples import InputExample


def test_balanced_weights_let_all_classes_count_the_same():
    examples = [InputExample(0, "", label=each) for each in "aaaaaabbb"]
    weights = cf.create_class_weights("balanced", ["a", "b", "c"], examples)
    # A class that no example has gets a finite weight too.
    assert weights == {"a": 9 / (3 * 6), "b": 9 / (3 * 3), "c": 3.0}


def test_a_file_has_a_weight_for_each_label(tmp_path):
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"b": 2, "a": 0.5}))
    weights = cf.create_class_weights(str(path), ["a", "b"], ())
    assert [*weights.items()] == [("a", 0.5), ("b", 2.0)]
    for wrong, message in (
        ({"a": 1}, r"weight for each of the labels \['a', 'b'\]"),
        ({"a": 1, "b": 1, "c": 1}, "weights for: .'a', 'b', 'c'"),
        ({"a": 1, "b": 0}, "weight of 'b' must be a number from 1e-6"),
        ({"a": 1, "b": 10**400}, "from 1e-6 to 1e6. Received: 1000"),
        ({"a": 1, "b": True}, "Received: True"),
        ({"a": "1", "b": 1}, "Received: '1'"),
    ):
        path.write_text(json.dumps(wrong))
        with pytest.raises(ValueError, match=message):
            cf.create_class_weights(str(path), ["a", "b"], ())


def test_flags_that_do_not_fit_the_labels_are_named(tmp_path):
    file = tmp_path / "weights.json"
    file.write_text("{}")
    for weights in ("balanced", str(file)):
        options = cf.ClassifierOptions(class_weights=weights)
        cf.check_mode(options, "classification")
    for flags, mode, message in (
        ({"class_weights": ""}, "classification", "--class_weights= is empty"),
        *(
            ({"class_weights": path}, "classification", "nor an existing file")
            for path in (str(tmp_path), "none.json")
        ),
        (
            {"class_weights": "balanced"},
            "regression",
            "needs --output_mode=class",
        ),
        ({"tune_thresholds": True}, "classification", "--output_mode=multil"),
        ({"calibrate": True}, "regression", "--calibrate does not work with"),
        (
            {"calibrate": True, "doc_stride": 7, "window_pooling": "max"},
            "classification",
            "--calibrate needs --window_pooling=mean",
        ),
    ):
        with pytest.raises((ValueError, OSError), match=message):
            cf.check_mode(cf.ClassifierOptions(**flags), mode)


@pytest.mark.parametrize(
    "flags, message",
    [
        ({"doc_stride": 15}, "--max_seq_length=16 fits only 14"),
        ({"window_pooling": "max"}, "--window_pooling=max needs --doc_stride"),
        ({"glue_submission": True}, "accepts predictions only for ax, cola"),
        (
            {"glue_submission": True, "task_name": "MRPC"},
            "--glue_submission needs --do_predict",
        ),
        ({"report": True}, "--report needs --do_eval"),
        ({"tune_thresholds": True}, "--tune_thresholds needs --do_eval"),
        ({"calibrate": True}, "--calibrate needs --do_eval"),
        *(
            (
                {name: value, "task_name": "embedding"},
                f"--{name} is not used by --task_name=embedding",
            )
            for name, value in (
                ("report", True),
                ("bilstm", True),
                ("doc_stride", 7),
                ("labels", ["a"]),
                ("output_mode", "multilabel"),
            )
        ),
        (
            {"labels": ["a"], "task_name": "ranking"},
            "--labels is not used by --task_name=ranking",
        ),
        *(
            (
                {name: value, "task_name": "mrpc"},
                f"--{name} is not used by --task_name=mrpc",
            )
            for name, value in (("labels", ["a"]), ("text_column", "review"))
        ),
    ],
)
def test_flags_that_contradict_each_other_are_named(flags, message):
    with pytest.raises(ValueError, match=message):
        create_config(flags)


def create_config(flags):
    names = ("vocab_file", "bert_config_file", "data_dir", "output_dir")
    every = dict.fromkeys(names, "x") | {"given_flags": flags}
    every |= {"task_name": "csv", "do_train": True, "max_seq_length": 16}
    return run_classifier.Config(**every | flags)


def test_the_mode_of_glues_tasks_is_known():
    options = create_config({"task_name": "mrpc", "output_mode": "multilabel"})
    with pytest.raises(
        ValueError, match="--output_mode=multilabel does not fit"
    ):
        cf.check_mode(options, "classification")
    cf.check_mode(options, "multilabel")
