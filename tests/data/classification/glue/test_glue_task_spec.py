"""What a task of GLUE is, without its files."""

from data.classification.glue.glue_task_spec import GlueTaskSpec


def test_labels_are_names_or_in_regression_none():
    assert GlueTaskSpec().labels == ["0", "1"]
    assert GlueTaskSpec(output_mode="regression").labels is None


def test_the_placeholder_is_the_first_label_or_a_number():
    assert GlueTaskSpec(label_names=("n", "y")).placeholder == "n"
    assert GlueTaskSpec(output_mode="regression").placeholder == 0.0


def test_the_train_set_has_a_file_name_of_its_own():
    spec = GlueTaskSpec(train_file="a.tsv", other_files="b_{}.tsv")
    assert spec.file_of_set("train") == "a.tsv"
    assert spec.file_of_set("dev") == "b_dev.tsv"
