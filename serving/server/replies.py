"""TensorFlow Serving's REST protocol: paths, and replies as JSON."""

import base64
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf import json_format

from serving.server.protocol import BadRequest, RestError

_MODEL = (
    r"(?i:/v1/models)(?:/(?P<name>[^/:]+))?"
    r"(?:/(?i:versions)/(?P<version>\d+)|/(?i:labels)/(?P<label>[^/:]+))?"
)
CALL_PATH = re.compile(_MODEL + r":(?P<method>(?i:classify|regress|predict))")
STATUS_PATH = re.compile(_MODEL + r"(?P<metadata>/(?i:metadata))?")
# Maximum numbers and strings in a reply; a larger one would fill the memory.
MAX_VALUES = 1 << 22


def parse_path(match: re.Match) -> tuple[str, int | None]:
    """Returns the name and the version in a path.

    Raises:
        RestError: the name is missing, or the version is invalid.
    """
    name, version = match["name"], match["version"]
    if not name:
        raise BadRequest("Missing model name in request.")
    if match["label"]:
        raise BadRequest(
            f"Unrecognized servable version label: {match['label']}"
        )
    if not version:
        return name, None
    if len(version) > 18:
        raise BadRequest(f"Failed to convert version: {version} to numeric.")
    return name, int(version)


def to_reply(
    request: Mapping[str, Any], outputs: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Returns the reply to a request: "predictions" or "outputs".

    Raises:
        RestError: it would be too large, or it has another number of rows
            than the request.
    """
    count = sum(value.size for value in outputs.values())
    if count > MAX_VALUES:
        raise RestError(
            413,
            f"The reply would hold {count} values, more than "
            f"{MAX_VALUES}; send fewer or shorter texts at a time",
        )
    values = {name: _to_lists(name, value) for name, value in outputs.items()}
    (alone,) = values.values() if len(values) == 1 else [None]
    if "inputs" in request:
        return {"outputs": values if alone is None else alone}
    sizes = {len(value) if np.ndim(value) else -1 for value in outputs.values()}
    if len(sizes) > 1 or -1 in sizes:
        raise BadRequest(
            f"Tensor name: {min(outputs)} has inconsistent batch size; use "
            "'inputs'"
        )
    if alone is not None:
        return {"predictions": alone}
    return {
        "predictions": [
            dict(zip(values, row, strict=True))
            for row in zip(*values.values(), strict=True)
        ]
    }


def _to_lists(name: str, value: np.ndarray) -> Any:
    """Returns an array as nested lists; `_bytes` at its name's end = base64."""
    if value.dtype == object:

        def to_json(item: bytes) -> Any:
            if name.endswith("_bytes"):
                return {"b64": base64.b64encode(item).decode()}
            return item.decode("utf-8", "replace")

        return np.vectorize(to_json, [object])(value).tolist()
    if value.dtype == np.float32:
        # The fewest digits that reproduce the float32.
        return value.astype("U").astype(np.float64).tolist()
    return value.tolist()


def describe_metadata(
    name: str, version: int, signatures: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the reply of `GET /v1/models/NAME/metadata`.

    Args:
        name: the model's.
        version: the model's.
        signatures: {name: SignatureDef}.
    """
    definitions = {
        key: json_format.MessageToDict(
            definition,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
        )
        for key, definition in signatures.items()
    }
    return {
        "model_spec": {
            "name": name,
            "signature_name": "",
            "version": str(version),
        },
        "metadata": {"signature_def": {"signature_def": definitions}},
    }


def describe_status(
    name: str, states: Mapping[int, tuple[str, str]], version: int | None
) -> dict[str, Any]:
    """Returns the reply of `GET /v1/models/NAME[/versions/N]`.

    Args:
        name: the model's.
        states: {version: (state, error message)}.
        version: the one asked for; None for all.

    Raises:
        RestError: there is no such version.
    """
    if version is not None and version not in states:
        raise RestError(
            404, f"Could not find version {version} of model {name}"
        )
    found = []
    for number in sorted(states, reverse=True):
        state, message = states[number]
        status = {
            "error_code": "UNKNOWN" if message else "OK",
            "error_message": message,
        }
        if version in (None, number):
            found.append(
                {"version": str(number), "state": state, "status": status}
            )
    return {"model_version_status": found}
