"""The tasks of GLUE, and XNLI: their files, columns, labels and metrics.

glue_processor.py reads their sets. glue_submissions.py writes the predictions
for GLUE's site.
"""

import dataclasses

from data.classification.glue.glue_processor import GlueProcessor
from data.classification.glue.glue_task_spec import GlueTaskSpec
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout
from files.paths import StrPath

# Names of the labels of natural language inference, in GLUE and XNLI.
_NLI_LABELS = ("contradiction", "entailment", "neutral")
_ENTAILMENT_LABELS = ("entailment", "not_entailment")
# MultiNLI, matched: does the first text entail the second? The dev and test
# texts are of the same genres as the train set.
_MNLI = GlueTaskSpec(
    label_names=_NLI_LABELS,
    other_files="{}_matched.tsv",
    dev_guid="dev_matched",
    text_columns=(8, 9),
    label_column=-1,
    guid_column=0,
    hub_labels=("entailment", "neutral", "contradiction"),
)


def specify_xnli(language: str) -> GlueTaskSpec:
    """Describes XNLI: MultiNLI's task in 15 languages.

    `language` is the language of the texts. Google's code uses "zh", and does
    not read the test set.
    """
    return GlueTaskSpec(
        label_names=_NLI_LABELS,
        train_file=f"multinli/multinli.train.{language}.tsv",
        other_files="xnli.{}.tsv",
        columns_of_set={
            "train": [0, 1, 2],
            "dev": [6, 7, 1],
            "test": [6, 7, 1],
        },
        language=language,
        label_of_alias={"contradictory": "contradiction"},
        test_set_has_labels=True,
    )


# {task: what it consists of}.
SPEC_OF_TASK: dict[str, GlueTaskSpec] = {
    # GLUE's diagnostic set, a test set for models trained on MultiNLI.
    "ax": GlueTaskSpec(
        label_names=_NLI_LABELS,
        other_files="diagnostic.tsv",
        metrics=("matthews",),
    ),
    # Is the sentence grammatical?
    "cola": GlueTaskSpec(
        text_columns=(3,),
        label_column=1,
        has_header=False,
        metrics=("matthews", "eval_accuracy"),
    ),
    "mnli": _MNLI,
    # MultiNLI, mismatched: these genres do not occur in the train set.
    "mnli-mm": dataclasses.replace(
        _MNLI, other_files="{}_mismatched.tsv", dev_guid="dev_mismatched"
    ),
    # Do the two sentences have the same meaning?
    "mrpc": GlueTaskSpec(
        text_columns=(3, 4), label_column=0, metrics=("f1", "eval_accuracy")
    ),
    # Does the sentence contain the answer to the question?
    "qnli": GlueTaskSpec(
        label_names=_ENTAILMENT_LABELS,
        text_columns=("question", "sentence"),
        hub_labels=_ENTAILMENT_LABELS,
    ),
    # Do two questions have the same meaning? A few rows of GLUE's train.tsv
    # contain a line break, so they are read as two lines that are too short.
    "qqp": GlueTaskSpec(
        text_columns=("question1", "question2"),
        label_column="is_duplicate",
        metrics=("f1", "eval_accuracy"),
        drops_short_lines=True,
    ),
    # Does the first text entail the second?
    "rte": GlueTaskSpec(
        label_names=_ENTAILMENT_LABELS, hub_labels=_ENTAILMENT_LABELS
    ),
    # Is a sentence of a film review positive?
    "sst-2": GlueTaskSpec(text_columns=("sentence",)),
    # How similar are two sentences, on a scale from 0 to 5?
    "sts-b": GlueTaskSpec(
        output_mode="regression",
        label_column="score",
        metrics=("spearman", "pearson"),
    ),
    # Does the second sentence follow from the first?
    "wnli": GlueTaskSpec(),
    "xnli": specify_xnli("zh"),
}


def create_glue_processors(
    task_name: str,
    data_dir: StrPath | None,
    xnli_language: str,
    layout: TableLayout = DEFAULT_LAYOUT,
) -> tuple[GlueProcessor, GlueProcessor | None]:
    """Creates the processors of a task of GLUE, or of XNLI.

    Returns the processor of the task, and for MultiNLI the processor of its
    mismatched sets. The second processor is None for other tasks.
    """
    if task_name == "xnli":
        return GlueProcessor(specify_xnli(xnli_language), data_dir), None
    main = GlueProcessor(SPEC_OF_TASK[task_name], data_dir, layout)
    if task_name != "mnli":
        return main, None
    return main, GlueProcessor(SPEC_OF_TASK["mnli-mm"], data_dir, layout)
