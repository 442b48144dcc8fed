"""TensorFlow Serving's REST protocol: replies, from arrays to JSON."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf import json_format

from serving.server.errors import RestError

# Maximum numbers and strings in a reply; a larger one would fill the memory.
MAX_VALUES = 1 << 22


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
        raise RestError(
            400,
            "Tensor name: "
            f"{min(outputs)} has inconsistent batch size; use 'inputs'",
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
        is_binary = name.endswith("_bytes")
        return (
            np.array(
                [
                    {"b64": base64.b64encode(item).decode()}
                    if is_binary
                    else item.decode("utf-8", "replace")
                    for item in value.flat
                ],
                object,
            )
            .reshape(value.shape)
            .tolist()
        )
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
