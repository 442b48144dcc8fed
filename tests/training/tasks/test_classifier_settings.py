"""What a run and an export record of a classifier."""

from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_task_specs import TABLE_TASK_SPECS
from data.classification.task_selection.classification_sets import (
    ClassificationSets,
)
from data.sets.data_file_split import DataFileOptions
from training.tasks.classifier_settings import (
    create_classifier_settings,
    create_export_settings,
)


def create_sets(tmp_path, output_mode="classification"):
    """Returns the sets of a task, which has read no table yet."""
    spec = TABLE_TASK_SPECS["csv"]
    processor = spec.create_processor(
        tmp_path,
        DataFileOptions(),
        TableOptions(output_mode=output_mode),
        set_by_user=frozenset(),
    )
    return ClassificationSets(processor, table_task_spec=spec)


def record(sets, class_weights):
    """Returns the settings of a task of two labels."""
    return create_classifier_settings(
        "csv",
        sets,
        labels=["no", "yes"],
        num_texts=1,
        class_weights=class_weights,
    )


def test_a_run_records_its_labels_and_the_number_of_its_texts(tmp_path):
    settings = record(create_sets(tmp_path), {})
    assert settings["labels"] == ["no", "yes"]
    assert settings["num_texts"] == 1


def test_equal_class_weights_are_not_recorded(tmp_path):
    weights = {"no": 1.0, "yes": 2.0}
    sets = create_sets(tmp_path)
    assert record(sets, weights)["class_weights"] == weights
    assert "class_weights" not in record(sets, {})


def test_an_export_of_classes_records_the_stride_of_its_windows(tmp_path):
    assert create_export_settings(create_sets(tmp_path), 64) == {
        "doc_stride": 64
    }


def test_an_export_of_a_regression_does_not_limit_its_texts(tmp_path):
    sets = create_sets(tmp_path, output_mode="regression")
    assert create_export_settings(sets, 0) == {
        "doc_stride": 0,
        "num_texts": None,
    }
