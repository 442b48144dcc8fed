"""Parses paths and writes replies of TensorFlow Serving's REST protocol."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from serving.server import protocol
from serving.server.protocol import RestError
from serving.server.signatures import Specs
from serving.server.versions import LoadedVersion, ServedModel

PATH = re.compile(
    r"(?i:/v1/models)(?:/(?P<name>[^/:]+))?"
    r"(?:/(?i:versions)/(?P<version>\d+)|/(?i:labels)/(?P<label>[^/:]+))?"
    r"(?:(?P<metadata>/(?i:metadata))"
    r"|:(?P<method>(?i:classify|regress|predict)))?"
)
# Maximum number of values that are converted to Python objects at a time. An
# object needs 30 times the memory of a value in an array.
_PART = 1 << 14
# Types whose TensorFlow name is not "DT_" plus NumPy's name in capitals.
_TYPES = {"float16": "DT_HALF", "float32": "DT_FLOAT", "float64": "DT_DOUBLE"}


def parse_path(match: re.Match) -> tuple[str, int | None]:
    """Returns the name and the version (or None) of a model in a URL's path.

    Raises:
        RestError: the name is missing, or the version is invalid.
    """
    name, version = match["name"], match["version"]
    if not name:
        raise RestError("Missing model name in request.")
    if match["label"]:
        raise RestError(
            f"Unrecognized servable version label: {match['label']}"
        )
    if not version:
        return name, None
    if len(version) > 18:
        raise RestError(f"Failed to convert version: {version} to numeric.")
    return name, int(version)


def to_body(
    request: Mapping[str, Any], outputs: Mapping[str, np.ndarray]
) -> tuple[bytearray, dict[str, str]]:
    """Returns the body and the headers of a reply.

    The body is {"predictions": rows} or {"outputs": columns}. If there is only
    one output, the body does not contain its name.

    Raises:
        RestError: the outputs differ in their number of rows.
    """
    is_columns = "inputs" in request
    sizes = {len(value) if value.ndim else -1 for value in outputs.values()}
    if not is_columns and (len(sizes) > 1 or -1 in sizes):
        raise RestError(
            f"Tensor name: {min(outputs)} has inconsistent batch size; use "
            "'inputs'"
        )

    def write() -> Iterator[str]:
        yield '{"outputs": ' if is_columns else '{"predictions": '
        if len(outputs) == 1:
            ((name, value),) = outputs.items()
            yield from to_json(name, value)
        elif is_columns:
            yield from _write_object(outputs)
        else:
            (num_rows,) = sizes
            for row in range(num_rows):
                yield ", " if row else "["
                named = {k: v[row, ...] for k, v in outputs.items()}
                yield from _write_object(named)
            yield "]" if num_rows else "[]"
        yield "}"

    body = bytearray()
    for part in write():
        body += part.encode("utf-8", "replace")
    return body, {"Content-Type": "application/json"}


def _write_object(outputs: Mapping[str, np.ndarray]) -> Iterator[str]:
    for number, (name, value) in enumerate(outputs.items()):
        yield f"{', ' if number else '{'}{json.dumps(name)}: "
        yield from to_json(name, value)
    yield "}"


def to_json(name: str, value: np.ndarray) -> Iterator[str]:
    """Yields the value of the output `name` as JSON text, in parts."""
    if value.size <= _PART:
        yield json.dumps(_to_lists(name, value), ensure_ascii=False)
        return
    step = max(_PART * len(value) // value.size, 1)
    for begin in range(0, len(value), step):
        yield ", " if begin else "["
        if step == 1:
            yield from to_json(name, value[begin])
        else:
            part = _to_lists(name, value[begin : begin + step])
            yield json.dumps(part, ensure_ascii=False)[1:-1]
    yield "]"


def _to_lists(name: str, value: np.ndarray) -> Any:
    """Converts an array to nested lists for JSON.

    If `name` ends in `_bytes`, strings become {"b64": base64}.
    """
    if value.dtype == object:

        def to_json(item: bytes) -> Any:
            if name.endswith("_bytes"):
                return {"b64": base64.b64encode(item).decode()}
            return item.decode("utf-8", "replace")

        return np.vectorize(to_json, [object])(value).tolist()
    if value.dtype == np.float32:
        # Write the smallest number of digits that reproduces the float32.
        return value.astype("U").astype(np.float64).tolist()
    return value.tolist()


def describe(name: str, version: LoadedVersion) -> dict[str, Any]:
    """Returns the reply of `GET /v1/models/NAME/metadata`."""
    definitions = {
        key: {
            "inputs": _describe(signature.inputs),
            "outputs": _describe(signature.outputs),
            "method_name": protocol.METHOD,
            "defaults": {},
        }
        for key, signature in version.description.signatures.items()
    }
    return {
        "model_spec": {
            "name": name,
            "signature_name": "",
            "version": str(version.number),
        },
        "metadata": {"signature_def": {"signature_def": definitions}},
    }


def _describe(specs: Specs) -> dict[str, Any]:
    """Describes inputs or outputs as TensorInfo messages in JSON."""
    return {
        key: {
            "name": spec.name,
            "dtype": _TYPES.get(spec.dtype, f"DT_{spec.dtype.upper()}"),
            "tensor_shape": {
                "dim": [{"size": str(n), "name": ""} for n in spec.shape or ()],
                "unknown_rank": spec.shape is None,
            },
        }
        for key, spec in specs.items()
    }


def describe_status(model: ServedModel, version: int | None) -> dict[str, Any]:
    """Returns the reply of `GET /v1/models/NAME[/versions/N]`.

    If `version` is None, the reply describes all versions.

    Raises:
        RestError: the version does not exist.
    """
    # Copy the states, because another thread may add a version.
    states = dict(model.states)
    if version is not None and version not in states:
        raise RestError(
            f"Could not find version {version} of model {model.name}", 404
        )
    numbers = sorted(states, reverse=True) if version is None else [version]
    found = []
    for number in numbers:
        state, message = states[number]
        code = "UNKNOWN" if message else "OK"
        status = {"error_code": code, "error_message": message}
        found.append({"version": str(number), "state": state, "status": status})
    return {"model_version_status": found}
