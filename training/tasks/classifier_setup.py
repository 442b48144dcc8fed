"""Creates the sets and the task that the flags of the script select.

Call the functions in their order, as run_classifier.py does. They import no
TensorFlow.
"""

from command_line import config_values, flags
from data.classification.glue import glue_tasks
from data.classification.labels.class_weights import (
    compute_class_weights,
    log_class_weights,
)
from data.classification.pairs import pair_features
from data.classification.table_tasks import pair_scores, table_columns
from data.classification.table_tasks.table_processor import TableProcessor
from data.classification.task_selection.classification_sets import (
    ClassificationSets,
)
from data.classification.task_selection.user_processor import find_processor
from data.tables.tables import Table
from training.config.classifier_config import ClassifierConfig
from training.preparation.starting_point import StartingPoint
from training.task import AnyTask
from training.tasks.classifier import ClassifierTask
from training.tasks.embedding import EmbeddingTask


def decide_columns(
    parsed: flags.ParsedCommand[ClassifierConfig],
) -> tuple[flags.ParsedCommand[ClassifierConfig], Table | None]:
    """Decides the columns that no flag names, by the header of --data_file.

    Returns the command with these flags, and the table, whose first row was
    read. The table is None if the command reads no --data_file, or if the task
    opens the file later.

    Raises:
        ValueError: a column is not found.
        OSError: the file cannot be read.
    """
    config = parsed.config
    task_spec = config.table_task_spec
    if task_spec is None or task_spec.pair_columns or not config.data_file:
        return parsed, None
    table = Table(config.data_file, table_columns.layout_of(config.table))
    columns = table_columns.find_unset_columns(
        config.table, parsed.set_by_user, table
    )
    table_columns.log_columns(config.table, parsed.set_by_user, table, columns)
    return config_values.decide_flags(parsed, columns), table


def create_classification_sets(
    start: StartingPoint[ClassifierConfig], table: Table | None = None
) -> ClassificationSets:
    """Creates the sets that --task_name or --processor selects.

    They have read no set yet. `table` is what `decide_columns` returned.

    Raises:
        ValueError: a flag or a class of --processor is wrong.
        OSError: a file cannot be read.
    """
    config = start.config
    names_data = start.set_by_user & {"task_name", "data_file"}
    user_processor = find_processor(
        config.classifier.processor,
        config.fine_tuning.data_dir,
        None if names_data else start.preset,
    )
    task_spec = config.table_task_spec
    if user_processor:
        return ClassificationSets(user_processor, table_task_spec=task_spec)
    if task_spec:
        table_processor = task_spec.create_processor(
            config.fine_tuning.data_dir,
            config.data_file_options,
            config.table,
            start.set_by_user,
            table,
        )
        return ClassificationSets(table_processor, table_task_spec=task_spec)
    return ClassificationSets(
        *glue_tasks.create_glue_processors(
            config.required_task_name,
            config.fine_tuning.data_dir,
            config.classifier.xnli_language,
            config.table.layout(),
        )
    )


def load_task(
    start: StartingPoint[ClassifierConfig],
    classification_sets: ClassificationSets,
) -> AnyTask:
    """Creates the task, and reads the sets that decide its labels.

    The train set may decide the labels, the weights of their classes, and
    whether the examples are pairs. For an embedding, the function looks into
    each set whether its pairs have scores, and takes the scale of all scores
    from the first set. It reads no other set. Each set keeps the rows that were
    read, so that no file is read twice.

    Raises:
        ValueError: a flag or a row of the data is wrong.
        OSError: a file cannot be read.
    """
    processor = classification_sets.table_processor
    if processor and classification_sets.loss_kind == "similarity":
        return _create_embedding_task(start, processor)
    return _create_classifier_task(start, classification_sets)


def _create_embedding_task(
    start: StartingPoint[ClassifierConfig],
    processor: TableProcessor,
) -> EmbeddingTask:
    """Creates the task of an embedding, with what its sets tell of scores."""
    config = start.config
    # In a test set, any score may be missing.
    scored = [set_name for set_name in config.set_names if set_name != "test"]
    max_score = None
    if scored:
        max_score = pair_features.find_max_score(processor.read(scored[0]))
    return EmbeddingTask(
        start,
        processor,
        has_scores={
            set_name: pair_scores.are_scored(processor.read(set_name))
            for set_name in scored
        },
        max_score=max_score,
        temperature=config.classifier.contrastive_temperature,
    )


def _create_classifier_task(
    start: StartingPoint[ClassifierConfig],
    classification_sets: ClassificationSets,
) -> ClassifierTask:
    """Creates the task of a classification, with what its train set tells."""
    config = start.config
    num_texts = classification_sets.num_texts
    if num_texts is None and config.training.do_train:
        num_texts = classification_sets.read_num_texts()
    labels = classification_sets.read_labels()
    class_weights = _find_class_weights(config, classification_sets, labels)
    if class_weights:
        log_class_weights(class_weights)
    return ClassifierTask(
        start,
        config.required_task_name,
        config.classifier,
        classification_sets,
        labels=labels,
        num_texts=num_texts,
        class_weights=class_weights,
    )


def _find_class_weights(
    config: ClassifierConfig,
    classification_sets: ClassificationSets,
    labels: list[str] | None,
) -> dict[str, float]:
    """Counts the labels of the train set, if --class_weights is set.

    Returns {label: weight in the training loss}, {} for equal weights.

    Raises:
        ValueError: the task has no classes.
    """
    if not config.classifier.class_weights:
        return {}
    if classification_sets.output_mode != "classification":
        raise ValueError(
            f"--class_weights is not for {classification_sets.output_mode}"
        )
    if not config.training.do_train:
        return {}
    return compute_class_weights(
        labels or (), classification_sets.read_train_set()
    )
