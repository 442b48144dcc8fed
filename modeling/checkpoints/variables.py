"""Names a model's variables as Google does, and assigns values to them.

The `LoadReport` says which variables got a value.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import keras
import numpy as np
from absl import logging

from files.paths import StrPath
from model_folders.formats.shape_checks import describe_entries
from model_folders.formats.weight_entries import entry_name_of, printable_name
from modeling.tensors import Tensor

# Variables that a checkpoint must contain. The pooler is not required, because
# masked LM, question answering and token classification models may lack it.
_REQUIRED_NAME = re.compile(r"bert/(?!pooler/)")
# The other parts of pretrained BERTs, which random values would replace.
_OPTIONAL_NAME = re.compile(
    r"bert/pooler/|cls/(?:predictions|seq_relationship)/"
)
# Floating-point types by the names of NumPy, or of safetensors, such as BF16.
_FLOAT_TYPE = re.compile("(?:b?float|B?F)(?:16|32|64)")
# Matches Google's name at the end of a variable's path in Keras. Before
# Google's name, the path may contain the name of the task model, then the name
# of a head. Google's names of some heads' weights have no scope.
_ORIGINAL_NAME = re.compile(
    r"(?:^|/)(bert/(?:embeddings|encoder|pooler)/.+"
    r"|cls/(?:predictions|seq_relationship|squad)/.+"
    r"|bilstm/.+"
    r"|output_(?:weights|bias))$"
)
# Matches seed generators that Keras's own layers create. No model of this
# package uses these generators. Their names vary, because Keras numbers them in
# the order in which a process creates them.
_STATE_OF_KERAS = re.compile(r"seed_generator_\d+/")
# Matches the names of weights and slots that another model of this project
# ignores, and of single values, such as global_step.
_KNOWN_NAME = re.compile(
    r"(^|[./])(bert|embeddings|encoder|pooler|cls|bilstm|distillation|"
    r"classifier|output_\w+|qa_outputs|seed_\w+)[./]|^\w+$"
)


def google_name_of(variable: keras.Variable) -> str:
    """Returns the name of a variable in Google's checkpoints.

    Args:
        variable: variable of any model of this package.

    Returns:
        for example `bert/encoder/layer_0/attention/self/query/kernel`,
        `cls/predictions/output_bias` or, for a classifier, `output_weights`.
        For the LSTM that this project adds, `bilstm/...`. For other variables
        that Google's BERT lacks, `variable.path`.
    """
    match = _ORIGINAL_NAME.search(variable.path)
    return match.group(1) if match else variable.path


def named_variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Returns {Google's name: variable} of all variables in a model.

    The variables include the state of the dropout's seed generator, under its
    path in Keras.
    """
    return {
        google_name_of(variable): variable
        for variable in model.variables
        if not _STATE_OF_KERAS.match(variable.path)
    }


class StoredEntry(Protocol):
    """An entry of a file: a `WeightEntry`, or an entry that reads a tensor."""

    @property
    def shape(self) -> Sequence[int]:
        """Shape of the value."""

    @property
    def dtype(self) -> str:
        """Name of the value's type, for example "float32" or "F32"."""

    @property
    def read(self) -> Callable[[], Tensor]:
        """Function that reads the value from the file."""


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """The variables that a model loaded from a checkpoint, and the others.

    Attributes:
        path: path of the checkpoint.
        loaded: names of the variables that got a value from the checkpoint.
        missing: names of the variables that the checkpoint lacks. They keep
            their values, so a new head starts with random values.
        unused: names of the checkpoint's entries that the model lacks.
        new_head: names of the head's variables, if the checkpoint contains the
            head of another task. They keep their random values too.
    """

    path: str
    loaded: list[str]
    missing: list[str]
    unused: list[str]
    new_head: Sequence[str] = ()


class _Assignment(NamedTuple):
    """A variable of a model, and the entry of a file that it starts from.

    Attributes:
        name: Google's name of the variable.
        variable: the variable that gets the value.
        entry_name: Google's name of the entry. It differs from `name` if the
            variable starts from another block.
    """

    name: str
    variable: keras.Variable
    entry_name: str


def restore_variables(
    model: keras.Model,
    path: StrPath,
    entries: Mapping[str, StoredEntry],
    *,
    initial_blocks: Sequence[int] | None = None,
    new_head: Sequence[str] = (),
) -> LoadReport:
    """Assigns a checkpoint's values to a model, one variable at a time.

    Checks all values before it assigns the first. To save memory, it reads each
    value twice instead of keeping it. The checkpoint must contain the complete
    encoder.

    Args:
        model: any model of this package, or a keras.Model that contains such a
            model. It is built.
        path: path of the checkpoint, for messages.
        entries: {Google's name: entry of the checkpoint}. The report lists the
            entries that the model lacks as unused, whatever their names are.
        initial_blocks: the stored block from which each block starts.
        new_head: Google's names of the variables that keep their values, even
            if the checkpoint contains them.

    Raises:
        ValueError: a variable of the encoder is missing, a shape differs, a
            value is not a finite floating-point number, or two variables of the
            model have the same name.
    """
    assignments = _list_assignments(model, initial_blocks)
    wanted = [item for item in assignments if item.name not in {*new_head}]
    missing = [item for item in wanted if item.entry_name not in entries]
    _check_complete(path, assignments, missing, entries)
    loaded = [item for item in wanted if item.entry_name in entries]
    _check_entries(path, loaded, entries)
    _check_values(path, loaded, entries)
    for item in loaded:
        item.variable.assign(entries[item.entry_name].read())
    used = {item.entry_name for item in assignments}
    report = LoadReport(
        path=str(path),
        loaded=[item.name for item in loaded],
        missing=[item.name for item in missing],
        unused=[name for name in entries if name not in used],
        new_head=new_head,
    )
    _log_report(report, assignments)
    return report


def check_loaded(report: LoadReport, *, needs_head: bool = True) -> None:
    """Checks that a model which is not trained has no random weights.

    Logs a warning if the checkpoint contains weights that no model reads.

    Args:
        report: report of loading the weights.
        needs_head: whether the caller computes the outputs of the head.

    Raises:
        ValueError: the checkpoint lacks the head.
    """
    others = ", ".join(
        printable_name(name)
        for name in report.unused
        if not _KNOWN_NAME.search(name)
    )
    optional = ("bert/pooler/", "cls/seq_relationship/")
    lost = [name for name in report.missing if not name.startswith(optional)]
    if lost and needs_head:
        raise ValueError(
            f"{report.path} lacks {lost[0]}, so the outputs would be random. "
            "Train the head (--do_train), or name its weights as transformers "
            f"does for BERT. Unknown weights: {others or 'none'}"
        )
    if others:
        logging.warning(
            "%s also contains %s, which this program does not use. If the "
            "model needs these weights, its outputs will be wrong.",
            report.path,
            others,
        )


def _list_assignments(
    model: keras.Model, initial_blocks: Sequence[int] | None
) -> list[_Assignment]:
    """Returns an assignment for each of a model's weights.

    Two weights of the same name are an error.
    """
    variables = {google_name_of(weight): weight for weight in model.weights}
    if len(variables) != len(model.weights):
        raise ValueError(
            f"{model.name} contains several BertModels with the same names. "
            "Load the checkpoint into each BertModel separately"
        )
    return [
        _Assignment(name, variable, entry_name_of(name, initial_blocks))
        for name, variable in variables.items()
    ]


def _log_report(report: LoadReport, assignments: Sequence[_Assignment]) -> None:
    """Logs how many variables were loaded, and the names of the missing."""
    missing = report.missing
    note = ""
    if missing:
        names = ", ".join(missing)
        note = f"; {len(missing)} start at random values: {names}"
    is_usual = not any(map(_OPTIONAL_NAME.match, missing))
    log = logging.info if is_usual else logging.warning
    log("%s: %d variables loaded%s", report.path, len(report.loaded), note)
    for name, variable, _ in assignments:
        mark = ", *INIT_FROM_CKPT*" if name in report.loaded else ""
        logging.debug(
            "  name = %s, shape = %s%s", name, tuple(variable.shape), mark
        )


def _check_complete(
    path: StrPath,
    assignments: Sequence[_Assignment],
    missing: Sequence[_Assignment],
    entries: Iterable[str],
) -> None:
    """Raises a ValueError if a file lacks the encoder.

    If the model contains no encoder, the file must contain at least one of the
    model's variables. `missing` contains the assignments whose entries the file
    lacks.
    """
    lost = [item for item in missing if _REQUIRED_NAME.match(item.name)]
    if lost or len(missing) == len(assignments):
        first = (lost or missing)[0]
        # Name the entries that do not fit, which may have other names here.
        expected = {item.entry_name for item in assignments}
        raise ValueError(
            f"{path} lacks {len(missing)} of the model's {len(assignments)} "
            f"variables, such as {first.entry_name} with shape "
            f"{list(first.variable.shape)}. "
            + describe_entries(name for name in entries if name not in expected)
        )


def _check_entries(
    path: StrPath,
    assignments: Iterable[_Assignment],
    entries: Mapping[str, StoredEntry],
) -> None:
    """Raises a ValueError if an entry does not fit its variable.

    An entry must have the shape of its variable, and contain floating-point
    numbers.
    """
    for name, variable, entry_name in assignments:
        entry = entries[entry_name]
        file_shape = list(entry.shape)
        model_shape = list(variable.shape)
        if file_shape != model_shape:
            raise ValueError(
                f"{name} has shape {file_shape} in {path}, but {model_shape} "
                "in the model. Correct the configuration, or the number of "
                "labels"
            )
        if not _FLOAT_TYPE.fullmatch(entry.dtype):
            raise ValueError(
                f"{entry_name} in {path} is of type {entry.dtype}. Save the "
                "model as float32"
            )


def _check_values(
    path: StrPath,
    assignments: Iterable[_Assignment],
    entries: Mapping[str, StoredEntry],
) -> None:
    """Raises a ValueError if a value is not finite in its variable's type."""
    for _, variable, entry_name in assignments:
        value = entries[entry_name].read()
        _check_value(path, entry_name, value, variable.dtype)


def _check_value(path: StrPath, name: str, value: Tensor, dtype: str) -> None:
    is_finite = keras.ops.isfinite(keras.ops.cast(value, dtype))
    if keras.ops.all(is_finite):
        return
    is_finite = keras.ops.convert_to_numpy(is_finite)
    index = tuple(map(int, np.argwhere(~is_finite)[0]))
    raise ValueError(
        f"{name} in {path} is {float(value[index])} at {list(index)}, but "
        f"weights must be finite {dtype} numbers. The training diverged, or "
        "the file is damaged. Use another checkpoint"
    )
