"""Converts requests of TensorFlow Serving's REST protocol to arrays.

The rules and the error messages are copied from TensorFlow Serving (from its
page "RESTful API" and from its replies), so that the same client works with
both servers.
"""

import base64
import itertools
import json
from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np

from serving.server.signatures import Spec, Specs

DEFAULT_SIGNATURE = "serving_default"
# Value of "method_name" for all signatures, in the metadata.
METHOD = "tensorflow/serving/predict"
# Maximum number of characters of a value that an error message quotes.
_SHOWN = 200
# Maximum depth of nested lists in a request.
_MAX_RANK = 16
_TYPES = {
    type(None): "Null",
    bool: "True",
    str: "String",
    int: "Number",
    float: "Number",
    list: "Array",
    dict: "Object",
}


class RestError(Exception):
    """An error that becomes the reply {"error": message} with a status.

    Args:
        message: error message.
        status: HTTP status. The default is for an invalid request.
        headers: additional HTTP headers of the reply.
    """

    def __init__(
        self,
        message: str,
        status: int = 400,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


def parse_body(body: bytes) -> dict[str, Any]:
    """Returns the JSON object in the body of a request.

    Raises:
        RestError: the body is not a JSON object.
        RecursionError: the JSON is nested too deeply.
    """
    if not body:
        raise RestError("JSON Parse error: The document is empty")
    try:
        request = json.loads(body)
    except json.JSONDecodeError as error:
        raise RestError(
            f"JSON Parse error: {error.msg} at offset: {error.pos}"
        ) from None
    except ValueError as error:
        # The body is not UTF-8, or a number contains too many digits.
        raise RestError(f"JSON Parse error: {error}") from None
    if not isinstance(request, dict):
        raise RestError(f"JSON Value: {_show(request)} Is not object")
    return request


def find_signature(
    request: Mapping[str, Any], method: str, signatures: Container[str]
) -> str:
    """Returns the name of the signature that a request calls.

    Args:
        request: JSON object of the request.
        method: "predict", "classify" or "regress" in any case, from the URL.
        signatures: names of the model's signatures.

    Raises:
        RestError: the name is not a string, or the model has no signature of
            this name and method.
    """
    name = request.get("signature_name", "")
    if not isinstance(name, str):
        raise RestError(
            f"JSON Value: {_show(request)} not formatted correctly. "
            "'signature_name' key must be a string value."
        )
    name = name or DEFAULT_SIGNATURE
    if name not in signatures:
        raise RestError(
            f'Serving signature name: "{name}" not found in signature def'
        )
    method = method.lower()
    if method != "predict":
        raise RestError(
            f"Expected {method} signature method_name to be "
            f"tensorflow/serving/{method}. Was: {METHOD}"
        )
    return name


def parse_inputs(
    request: Mapping[str, Any], inputs: Specs
) -> dict[str, np.ndarray]:
    """Returns {name of an input: array} for the inputs of a signature.

    A request contains "instances" (row format) or "inputs" (column format).

    Raises:
        RestError: the request is invalid, or the arrays do not fit the
            signature.
    """
    if "instances" in request and "inputs" in request:
        raise RestError(
            f"JSON Value: {_show(request)} Not formatted correctly expecting "
            "only one of 'inputs' or 'instances' keys to exist "
        )
    if "instances" in request:
        arrays = _parse_rows(request, inputs)
    elif "inputs" not in request:
        raise RestError("Missing 'inputs' or 'instances' key")
    else:
        values = request["inputs"]
        if not _is_named(values):
            if len(inputs) > 1:
                raise RestError(
                    "inputs is a plain value/list, but expecting an object as "
                    "multiple input tensors required as per tensorinfo_map"
                )
            values = {next(iter(inputs), ""): values}
        for name in inputs:
            if name not in values:
                raise RestError(
                    f"Missing named input: {name} in 'inputs' object."
                )
        arrays = {k: to_array(values[k], spec) for k, spec in inputs.items()}
    check_shapes(arrays, inputs)
    return arrays


def check_shapes(arrays: Mapping[str, np.ndarray], inputs: Specs) -> None:
    """Checks that arrays are of the shapes that a signature requires.

    Raises:
        RestError: an array is of a different shape, or the signature lacks
            inputs.
    """
    if not inputs:
        raise RestError(
            "the signature lacks inputs, so the server cannot call it. Use "
            "another signature"
        )
    for name, array in arrays.items():
        expected, shape = inputs[name].shape, array.shape
        if expected is not None and (
            len(expected) != len(shape)
            or any(
                e not in (-1, n) for e, n in zip(expected, shape, strict=True)
            )
        ):
            raise RestError(
                f"Tensor {name} must have shape {_show_shape(expected)}. "
                f"Received: {_show_shape(shape)}"
            )


def _parse_rows(
    request: Mapping[str, Any], inputs: Specs
) -> dict[str, np.ndarray]:
    rows = request["instances"]
    if not isinstance(rows, list):
        raise RestError(
            f"JSON Value: {_show(request)} Excepting 'instances' to be an "
            "list/array"
        )
    if not rows:
        raise RestError(
            f"JSON Value: {_show(request)} No values in 'instances' array"
        )
    if not isinstance(rows[0], dict) and len(inputs) > 1:
        raise RestError(
            "instances is a plain list, but expecting list of objects as "
            "multiple input tensors required as per tensorinfo_map"
        )
    are_objects = _is_named(rows[0])
    kinds = (
        "object but got list" if are_objects else "value/list but got object"
    )
    columns: dict[str, list[np.ndarray]] = {name: [] for name in inputs}
    for number, row in enumerate(rows):
        if are_objects != _is_named(row):
            raise RestError(f"Expecting {kinds} at item {number} of input list")
        named = row if are_objects else {next(iter(inputs), ""): row}
        for name, value in named.items():
            key = f" key: {name}" if are_objects else ""
            try:
                if name not in inputs:
                    raise RestError(
                        f"JSON object: does not have named input: {name}"
                    )
                item = to_array(value, inputs[name])
                first = columns[name][0] if columns[name] else item
                if first.size != item.size:
                    raise RestError(
                        f"Expecting tensor size: {first.size} but got: "
                        f"{item.size}"
                    )
                if first.shape != item.shape:
                    raise RestError(
                        f"Expecting shape {_show_shape(first.shape)} but got: "
                        f"{_show_shape(item.shape)}"
                    )
            except RestError as error:
                raise RestError(
                    f"Failed to process element: {number}{key} of 'instances' "
                    f"list. Error: INVALID_ARGUMENT: {error}"
                ) from None
            columns[name].append(item)
        if named.keys() != inputs.keys():
            raise RestError(
                f"Failed to process element: {number} of 'instances' list. "
                f"JSON object: {_show(row)} keys must be equal to: "
                f"{','.join(sorted(inputs))}"
            )
    return {name: np.stack(items) for name, items in columns.items()}


def _is_named(value: Any) -> bool:
    """Returns whether a value is an object of named inputs.

    The object {"b64": ...} is not, because it is one binary string.
    """
    return isinstance(value, dict) and not _is_base64(value)


def _is_base64(value: dict[str, Any]) -> bool:
    return [*value] == ["b64"] and isinstance(value["b64"], str)


def to_array(value: Any, spec: Spec) -> np.ndarray:
    """Converts a JSON value or nested lists to an array. Strings become bytes.

    Raises:
        RestError: two lists at one level differ in length, or a value is not
            of the type of `spec`.
    """
    shape: list[int] = []
    inner = value
    while isinstance(inner, list):
        shape.append(len(inner))
        if not inner:
            break
        inner = inner[0]
        if len(shape) > _MAX_RANK:
            raise RestError(
                f"Encountered list at unexpected level: {len(shape)}"
            )
    items = [value]
    for level, size in enumerate(shape):
        for item in items:
            if not isinstance(item, list):
                raise RestError(
                    f"JSON Value: {_show(item)} found at incorrect level: "
                    f"{level + 1} in the JSON DOM. Expected at level: "
                    f"{len(shape)}"
                )
            if len(item) != size:
                raise RestError(
                    f"Encountered list at unexpected size: {len(item)} at "
                    f"level: {level} expected size: {size}"
                )
        items = [*itertools.chain.from_iterable(items)]
    if any(isinstance(item, list) for item in items):
        raise RestError(
            f"Encountered list at unexpected level: {len(shape)} expected < "
            f"{len(shape)}"
        )
    dtype = spec.to_numpy()
    values = [_convert(item, dtype) for item in items]
    return np.array(values, dtype).reshape(shape)


def _convert(value: Any, dtype: np.dtype) -> Any:
    """Checks a JSON value, and converts it for an array of type `dtype`."""
    if dtype.kind == "O":
        if isinstance(value, dict):
            if not _is_base64(value):
                raise RestError(
                    f"JSON Value: {_show(value)} not formatted correctly for "
                    "base64 data"
                )
            try:
                return base64.b64decode(value["b64"], validate=True)
            except ValueError:
                raise RestError("Unable to base64 decode") from None
        if isinstance(value, str):
            try:
                return value.encode()
            except UnicodeEncodeError:
                raise RestError(
                    "JSON Parse error: the surrogate pair is invalid"
                ) from None
    elif dtype.kind == "b":
        if isinstance(value, bool):
            return value
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if type(value) is int and limits.min <= value <= limits.max:
            return value
    elif type(value) is float:
        return value
    elif type(value) is int and abs(value) < 1 << 1023:
        return value
    name = "False" if value is False else _TYPES[type(value)]
    raise RestError(
        f"JSON Value: {_show(value)} Type: {name} is not of expected type: "
        f"{'string' if dtype.kind == 'O' else dtype}"
    )


def _show(value: Any) -> str:
    """Returns a JSON value, shortened for an error message."""
    # Convert only the first parts to JSON, because a value may be large.
    parts = json.JSONEncoder(indent=4).iterencode(value)
    text = "".join(itertools.islice(parts, _SHOWN + 1))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _show_shape(shape: Iterable[int]) -> str:
    return f"[{','.join(map(str, shape))}]"
