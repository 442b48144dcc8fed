"""Describes what a command made as JSON, without what differs in each run."""

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from numpy.typing import NDArray

from files.paths import StrPath

# {folder: its name in the lines of a recording}.
Places: TypeAlias = Mapping[Path, str]
# {tag of TensorBoard: {step: its value}}.
Events: TypeAlias = dict[str, dict[str, str | float]]

# Programs. Their answers are compared, and their bytes are only told.
PROGRAMS = (".tflite", ".onnx")
# Times, rates and versions in messages and cards.
VARIABLE = (
    (r"127\.0\.0\.1:\d+", "ADDRESS"),
    (r"\b(python|keras|tensorflow|numpy) \d[\w.]*", r"\1 VERSION"),
    # The prefix of absl's log: time, process and the line of the code.
    (r"^[IWEF]\d{4} \d\d:\d\d:\d\d[.\d]* +\d+ [\w.]+:\d+\] ", ""),
    (
        r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?)?",
        "DATE",
    ),
    (r"\b\d+:\d\d(:\d\d)?\b", "TIME"),
    (
        r"\b[\d,.]+(e[+-]\d+)? ?(hours|hour|h|minutes|min|seconds|s|ms)\b",
        "TIME",
    ),
    (r"\b[\d,.]+(e[+-]\d+)? ?(\w+/s|GiB|MiB)(?!\w)", "RATE"),
)
# Messages of TensorFlow and of other libraries, and progress by the clock.
DROPPED = (
    r"^[IWEF]\d{4} \d\d:\d\d:\d\d.*\.(cc|h|cpp):\d+\]",
    r"^[IWEF]0000 ",
    r"^WARNING: All log messages before absl",
    r"^(INFO|WARNING): ",
    r" \w+/s [\d.]+|\w+ing (step|batch|document) \d|shard task \d",
)
# Values of JSON that differ in each run.
VARIABLE_KEYS = r"hours|.*_per_second|.*_gib|versions?"
# In model.json, a key of `checksums` ends with the time of the file.
FILE_TIME = r" \d{19}$"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:20]


def replace_places(text: str, places: Places) -> list[str]:
    """Returns the lines of a text in which all else must stay."""
    for folder, name in places.items():
        text = text.replace(str(folder), name)
    return text.split("\n")


def normalize(text: str, places: Places) -> list[str]:
    """Returns the lines of messages without times, rates and folders."""
    lines = []
    for line in replace_places(text, places):
        if any(re.search(pattern, line) for pattern in DROPPED):
            continue
        for pattern, name in VARIABLE:
            line = re.sub(pattern, name, line)
        lines.append(line)
    return lines


def clean(value: object) -> object:
    """Replaces the values of JSON that differ in each run."""
    if isinstance(value, dict):
        return {
            re.sub(FILE_TIME, " TIME", key): (
                "VARIES" if re.fullmatch(VARIABLE_KEYS, key) else clean(nested)
            )
            for key, nested in value.items()
        }
    return [*map(clean, value)] if isinstance(value, list) else value


def digest_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    """Returns {name: dtype, shape and hash}, sorted by name."""
    return {
        name: f"{array.dtype} {[*array.shape]} {digest(array.tobytes())}"
        for name, array in sorted(arrays.items())
    }


def _tensorflow() -> ModuleType:
    """Imports TensorFlow, which only some commands' files need."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf

    # It deprecates the reader of events, for which it has no other.
    logging.getLogger("tensorflow").setLevel("ERROR")
    return tf


def read_checkpoint(prefix: Path) -> dict[str, str] | list[str]:
    """Returns a description of each variable of a checkpoint.

    A SavedModel numbers its variables in any order, and has no names for them.
    """
    reader = _tensorflow().train.load_checkpoint(str(prefix))
    arrays = {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
        if not name.endswith("OBJECT_GRAPH")
    }
    described = digest_arrays(arrays)
    if prefix.parent.name == "variables":
        return sorted(described.values())
    return described


def read_safetensors(path: Path) -> dict[str, object]:
    from safetensors import numpy, safe_open

    with safe_open(path, "numpy") as file:
        metadata = {"metadata": file.metadata()}
    return metadata | digest_arrays(numpy.load_file(path))


def read_events(path: Path) -> Events:
    """Returns {tag: {step: value}} of TensorBoard's scalars, without rates."""
    tf = _tensorflow()
    values_by_tag: Events = {}
    for event in tf.compat.v1.train.summary_iterator(str(path)):
        for value in event.summary.value:
            if re.fullmatch(VARIABLE_KEYS, value.tag.split("/")[-1]):
                number: str | float = "VARIES"
            elif value.HasField("tensor"):
                array = tf.make_ndarray(value.tensor)
                scalar = array.ndim == 0 and array.dtype.kind == "f"
                number = float(array) if scalar else digest(array.tobytes())
            else:
                number = digest(value.SerializeToString(deterministic=True))
            values_by_tag.setdefault(value.tag, {})[str(event.step)] = number
    return values_by_tag


def read_signatures(path: Path) -> dict[str, dict[str, str]]:
    """Returns the inputs and outputs of each signature of a SavedModel."""
    from tensorflow.core.protobuf import saved_model_pb2

    model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    (graph,) = model.meta_graphs
    outputs = {}
    for name, signature in sorted(graph.signature_def.items()):
        for kind in ("inputs", "outputs"):
            described = {}
            for tensor, info in sorted(getattr(signature, kind).items()):
                shape = [dim.size for dim in info.tensor_shape.dim]
                described[tensor] = f"{info.dtype} {shape}"
            outputs[f"{name} {kind}"] = described
    return outputs


def read_json_lines(lines: Iterable[str]) -> list[object]:
    return [clean(json.loads(line)) for line in lines if line]


def describe(folder: StrPath, places: Places) -> dict[str, dict[str, object]]:
    """Returns {"programs": {path: hash}, "files": {path: contents}}."""
    files: dict[str, object] = {}
    programs: dict[str, object] = {}
    events: dict[str, Events] = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        # The data of a checkpoint are read with its index.
        if not path.is_file() or ".data-0000" in path.name:
            continue
        if path.name.startswith("events.out."):
            name = f"{Path(name).parent}/events.out"
            new_events = read_events(path)
            events[name] = _join_events(events.get(name, {}), new_events)
            files[name] = events[name]
            continue
        files[name] = _read_contents(path, places)
        if path.name.endswith(PROGRAMS):
            programs[name] = digest(path.read_bytes())
    return {"programs": programs, "files": files}


def _join_events(earlier: Events, later: Events) -> Events:
    joined = {
        tag: earlier.get(tag, {}) | later.get(tag, {})
        for tag in earlier.keys() | later.keys()
    }
    return dict(sorted(joined.items()))


def _read_contents(path: Path, places: Places) -> object:
    if path.suffix == ".index":
        return read_checkpoint(path.with_suffix(""))
    if path.suffix == ".safetensors":
        return read_safetensors(path)
    if path.name.endswith(PROGRAMS):
        return "a program"
    if path.name == "saved_model.pb":
        return read_signatures(path)
    if path.name == "fingerprint.pb":
        return "differs in each export"
    return _read_text(path, places)


def _read_text(path: Path, places: Places) -> object:
    data = path.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"{len(data)} bytes {digest(data)}"
    if "\0" in text:
        return f"{len(data)} bytes {digest(data)}"
    if path.suffix == ".jsonl":
        return read_json_lines(text.split("\n"))
    if path.suffix == ".json":
        return clean(json.loads(text))
    if path.suffix == ".md" or path.name == "checkpoint":
        return normalize(text, places)
    return text.split("\n")
