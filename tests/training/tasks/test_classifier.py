"""What the task of a classifier makes of texts and of outputs."""

import numpy as np
import pytest

import modeling
from data.classification.classification_examples import InputExample
from data.classification.user_tables.table_columns import ColumnOptions
from data.classification.user_tables.table_processor import open_table_processor
from data.classification.user_tables.table_tasks import DEFINITION_OF_TABLE_TASK
from data.sets.data_file_options import DataFileOptions
from tests.support.models import SMALL
from tests.support.tables.csv_files import write_csv
from tests.support.tasks.task_sets import create_classifier_start, create_set
from training.tasks.classifier import ClassifierTask

LABELS = ["no", "yes"]
EXAMPLES = [
    InputExample("1", "the man saw a river .", label="no"),
    InputExample("2", "a day", label="yes"),
]
# The most probable labels are "yes" and "yes".
LOGITS = np.array([[0.0, 2.0], [1.0, 3.0]], "float32")
# {kind of labels: (task_name, output_mode, the loss's class)}
LOSSES = {
    "one label": ("csv", "classification", modeling.ClassifierLoss),
    "several labels": ("csv", "multilabel", modeling.MultiLabelLoss),
    "a number": ("csv", "regression", modeling.RegressionLoss),
    "a ranking": ("ranking", "regression", modeling.RankingLoss),
}


@pytest.fixture
def create_task(tmp_path):
    """A function that returns a task for inputs of 5 WordPieces.

    Its sets are tables in `tmp_path`, which a test writes if it reads them.
    """

    def create_classifier_task(
        task_name="csv",
        output_mode="classification",
        class_weights=None,
        doc_stride=0,
        report=False,
        **columns,
    ):
        labels = None if output_mode == "regression" else LABELS
        processor = open_table_processor(
            DEFINITION_OF_TABLE_TASK[task_name],
            tmp_path,
            DataFileOptions(),
            ColumnOptions(output_mode=output_mode, labels=labels, **columns),
            set_by_user=(),
        )
        starting_point = create_classifier_start(
            tmp_path,
            max_seq_length=5,
            task_name=task_name,
            doc_stride=doc_stride,
            report=report,
        )
        return ClassifierTask(
            starting_point,
            processor,
            labels=labels,
            num_texts=1,
            exported_num_texts=1,
            class_weights=class_weights or {},
        )

    return create_classifier_task


@pytest.mark.parametrize("kind", LOSSES)
def test_the_loss_suits_the_kind_of_labels(kind, create_task):
    task_name, output_mode, loss_class = LOSSES[kind]
    assert isinstance(create_task(task_name, output_mode).loss, loss_class)


@pytest.mark.parametrize(
    ("mode", "count"), [("classification", 2), ("regression", 1)]
)
def test_the_model_has_an_output_for_each_label_or_one(
    mode, count, create_task
):
    task = create_task(output_mode=mode)
    assert task.create_model(SMALL).num_labels == count


def test_class_weights_are_recorded(create_task):
    weights = {"no": 1.0, "yes": 2.0}
    task = create_task(class_weights=weights)
    assert task.fixed_head_settings["class_weights"] == weights


def test_class_weights_change_only_the_loss_of_the_training(create_task):
    task = create_task(class_weights={"no": 1.0, "yes": 2.0})
    features = {
        "input_ids": np.ones((2, 1), "int32"),
        "label_ids": np.array([0, 1]),
    }
    weighted, _ = task.loss(LOGITS, features)
    equal, _ = task.scoring.eval_loss(LOGITS, features)
    losses = np.log(1 + np.exp([2.0, -2.0]))
    assert float(equal) == pytest.approx(losses.mean(), abs=1e-6)
    assert float(weighted) == pytest.approx(losses @ [1, 2] / 3, abs=1e-6)


@pytest.mark.parametrize(
    ("doc_stride", "expected"),
    [
        pytest.param(0, [0, 1], id="cut"),
        # Six WordPieces, of which a window holds three, and a text of two.
        pytest.param(2, [0, 0, 0, 1], id="windows"),
    ],
)
def test_a_record_has_the_index_of_its_text(create_task, doc_stride, expected):
    encoded = create_task(doc_stride=doc_stride).encode("dev", EXAMPLES)
    assert [index for _, index in encoded] == expected


# Outputs of three records.
RECORD_LOGITS = np.array([[1.0, 0.0], [3.0, 1.0], [5.0, 5.0]], "float32")


def test_the_windows_of_a_text_are_pooled_to_their_mean(create_task):
    encoded_set = create_set("dev", EXAMPLES, decoding_contexts=[0, 0, 1])
    task = create_task(doc_stride=2)
    ((_, pooled),) = task.pool(encoded_set, [({}, RECORD_LOGITS)])
    assert pooled.tolist() == [[2.0, 0.5], [5.0, 5.0]]


def test_the_outputs_of_texts_that_were_cut_stay_as_they_are(create_task):
    batches = [({}, RECORD_LOGITS)]
    encoded_set = create_set("dev", EXAMPLES, decoding_contexts=[0, 1, 2])
    assert create_task().pool(encoded_set, batches) is batches


@pytest.mark.parametrize(
    ("doc_stride", "is_marked"),
    [pytest.param(0, True, id="cut"), pytest.param(2, False, id="windows")],
)
def test_the_report_marks_what_no_record_reads(
    create_task, tmp_path, doc_stride, is_marked
):
    task = create_task(doc_stride=doc_stride, report=True)
    encoded_set = create_set("dev", EXAMPLES)
    task.write_dev_files(encoded_set, [({}, LOGITS)], str(tmp_path))
    page = (tmp_path / "report.html").read_text("utf-8")
    assert ("beyond --max_seq_length" in page) == is_marked


def test_only_windows_refuse_pairs(create_task, tmp_path):
    rows = [("a man", "a day", "no")]
    write_csv(tmp_path / "train.csv", ("text", "text_b", "label"), rows)
    assert create_task(text_b_column="text_b").take_examples("train")
    task = create_task(doc_stride=2, text_b_column="text_b")
    with pytest.raises(ValueError, match="the train set contains pairs"):
        task.take_examples("train")


def test_only_windows_to_train_on_have_weights(create_task):
    task = create_task(doc_stride=2)
    assert "example_weights" in task.feature_spec("train")
    assert "example_weights" not in task.feature_spec("dev")
    assert "example_weights" not in create_task().feature_spec("train")


def test_records_to_predict_have_no_labels(create_task):
    task = create_task()
    assert "label_ids" in task.feature_spec("dev")
    assert "label_ids" not in task.feature_spec("test")


def test_the_score_is_the_share_of_right_labels(create_task):
    encoded_set = create_set("dev", EXAMPLES)
    scores = create_task().compute_scores(encoded_set, [({}, LOGITS)])
    assert scores.overall["eval_accuracy"] == 0.5


def test_a_run_records_its_labels_and_the_number_of_its_texts(create_task):
    fixed_head_settings = create_task().fixed_head_settings
    assert fixed_head_settings["labels"] == ["no", "yes"]
    assert fixed_head_settings["num_texts"] == 1


def test_equal_class_weights_are_not_recorded(create_task):
    assert "class_weights" not in create_task().fixed_head_settings


def test_an_export_of_classes_records_the_stride_of_its_windows(create_task):
    task = create_task(doc_stride=64)
    assert task.head_settings == {**task.fixed_head_settings, "doc_stride": 64}
