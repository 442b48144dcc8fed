"""Assigns the values in a file to the variables of a model, by name."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import keras
import numpy as np
from absl import logging

from files.paths import StrPath
from model_folders.formats.entry_names import source_name
from model_folders.formats.sizes import describe_entries
from modeling.checkpoints.names import original_name
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


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """Report of the variables that were loaded from a checkpoint.

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


def restore_variables(
    model: keras.Model,
    path: StrPath,
    *,
    shapes: Mapping[str, Sequence[int]],
    dtypes: Mapping[str, str],
    read: Callable[[str], Tensor],
    source_blocks: Sequence[int] | None = None,
    new_head: Sequence[str] = (),
) -> LoadReport:
    """Assigns a checkpoint's values to a model, one variable at a time.

    Checks all values before it assigns the first. To save memory, it reads each
    value twice instead of keeping it. The checkpoint must contain the complete
    encoder.

    Args:
        model: any model of this package, built or not, or a built keras.Model
            that contains such a model.
        path: path of the checkpoint, for messages.
        shapes: {Google's name: shape} of the checkpoint's entries.
        dtypes: {Google's name: dtype}, for example "float32" or "F32".
        read: function (Google's name of an entry) -> array of its values.
        source_blocks: for each block of the model, the number of the
            checkpoint's block to start from. None = the block with the same
            number.
        new_head: Google's names of the variables that keep their values, even
            if the checkpoint contains them.

    Raises:
        ValueError: a variable of the encoder is missing, a shape differs, a
            value is not a finite floating-point number, or two variables of the
            model have the same name.
    """
    if not model.built:
        model.build()
    variables = _name_variables(model)
    # {name of a variable: name of its entry in the file}
    sources = {name: source_name(name, source_blocks) for name in variables}
    new_names = {*new_head}
    missing = [
        name
        for name in variables
        if name not in new_names and sources[name] not in shapes
    ]
    _check_complete(
        path, variables, sources=sources, missing=missing, entries=shapes
    )
    unchanged = {*missing, *new_names}
    loaded = [name for name in variables if name not in unchanged]
    loaded_variables = {name: variables[name] for name in loaded}
    _check_entries(
        path, loaded_variables, sources=sources, shapes=shapes, dtypes=dtypes
    )
    _assign_values(path, loaded_variables, sources, read)
    _log_loaded(path, variables, loaded, missing)
    used = {sources[name] for name in variables}
    unused = [name for name in shapes if name not in used]
    return LoadReport(
        path=str(path),
        loaded=loaded,
        missing=missing,
        unused=unused,
        new_head=new_head,
    )


def _name_variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Returns {Google's name: variable} of a model's weights.

    Raises:
        ValueError: two variables have the same name.
    """
    variables = {original_name(weight): weight for weight in model.weights}
    if len(variables) != len(model.weights):
        raise ValueError(
            f"{model.name} contains several BertModels with the same names. "
            "Load the checkpoint into each BertModel separately"
        )
    return variables


def _assign_values(
    path: StrPath,
    variables: Mapping[str, keras.Variable],
    sources: Mapping[str, str],
    read: Callable[[str], Tensor],
) -> None:
    """Assigns the values of variables, after a check of all values.

    Args:
        path: path of the checkpoint, for messages.
        variables: {Google's name: variable}.
        sources: {name of a variable: name of its entry}.
        read: as in `restore_variables`.

    Raises:
        ValueError: a value is not a finite floating-point number.
    """
    for name, variable in variables.items():
        source = sources[name]
        _check_values(path, source, read(source), variable.dtype)
    for name, variable in variables.items():
        variable.assign(read(sources[name]))


def _log_loaded(
    path: StrPath,
    variables: Mapping[str, keras.Variable],
    loaded: Sequence[str],
    missing: Sequence[str],
) -> None:
    note = ""
    if missing:
        names = ", ".join(missing)
        note = f"; {len(missing)} start at random values: {names}"
    is_usual = not any(map(_OPTIONAL_NAME.match, missing))
    log = logging.info if is_usual else logging.warning
    log("%s: %d variables loaded%s", path, len(loaded), note)
    for name, variable in variables.items():
        mark = ", *INIT_FROM_CKPT*" if name in loaded else ""
        logging.debug(
            "  name = %s, shape = %s%s", name, tuple(variable.shape), mark
        )


def _check_complete(
    path: StrPath,
    variables: Mapping[str, keras.Variable],
    sources: Mapping[str, str],
    missing: Sequence[str],
    entries: Iterable[str],
) -> None:
    """Raises a ValueError if a file lacks the encoder.

    If the model contains no encoder, the file must contain at least one of the
    model's variables.
    """
    lost = [name for name in missing if _REQUIRED_NAME.match(name)]
    if lost or len(missing) == len(sources):
        first = (lost or missing)[0]
        # Name the entries that do not fit, which may have other names here.
        expected = {*sources.values()}
        raise ValueError(
            f"{path} lacks {len(missing)} of the model's {len(sources)} "
            f"variables, such as {sources[first]} with shape "
            f"{list(variables[first].shape)}. "
            + describe_entries(name for name in entries if name not in expected)
        )


def _check_entries(
    path: StrPath,
    variables: Mapping[str, keras.Variable],
    sources: Mapping[str, str],
    shapes: Mapping[str, Sequence[int]],
    dtypes: Mapping[str, str],
) -> None:
    """Raises a ValueError if an entry does not fit its variable.

    It must have the same shape, and contain floating-point numbers.
    """
    for name, variable in variables.items():
        source = sources[name]
        file_shape = list(shapes[source])
        model_shape = list(variable.shape)
        if file_shape != model_shape:
            raise ValueError(
                f"{name} has shape {file_shape} in {path}, but {model_shape} "
                "in the model. Correct the configuration, or the number of "
                "labels"
            )
        if not _FLOAT_TYPE.fullmatch(dtypes[source]):
            raise ValueError(
                f"{source} in {path} is of type {dtypes[source]}. Save the "
                "model as float32"
            )


def _check_values(path: StrPath, name: str, value: Tensor, dtype: str) -> None:
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
