"""Flags of a user's own tables, which table_task.TableOptions holds."""

from absl import flags

from data.classification import table_task


def define_table_flags() -> None:
    """Defines how the tables of --task_name=csv are read."""
    flags.DEFINE_string(
        "text_column",
        "text",
        "Column of the text. Where all columns are given by number, from 1, "
        "a table's first line does not name them.",
    )
    flags.DEFINE_string(
        "text_b_column", None, "Column of the second text of a pair."
    )
    flags.DEFINE_string("label_column", "label", "Column of the label.")
    flags.DEFINE_string(
        "id_column",
        None,
        "Column that names each example in the predictions; by default they "
        "are numbered.",
    )
    flags.DEFINE_list(
        "labels",
        None,
        "The labels in their order; by default those of the train set, "
        "sorted, or those that the model was trained with.",
    )
    flags.DEFINE_enum(
        "output_mode",
        "classification",
        table_task.OUTPUT_MODES,
        "One label each; any number of labels; or a number.",
    )
    flags.DEFINE_string(
        "label_separator", ",", "Separates the labels in a multilabel cell."
    )
    flags.DEFINE_bool(
        "quoting", True, 'Whether " quotes cells; else it is a character.'
    )
