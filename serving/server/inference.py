"""Parses requests and writes replies of the Open Inference Protocol.

Clients of KServe and Triton use this protocol. A body contains tensors as JSON,
or as bytes after the JSON (Triton's extension binary_tensor_data).
"""

import json
import math
import re
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from serving.server import protocol, replies
from serving.server.monitoring import RequestRecord
from serving.server.protocol import RestError
from serving.server.signatures import Spec, Specs
from serving.server.versions import LoadedVersion

PATH = re.compile(
    r"models/(?P<name>[^/]+)(?:/versions/(?P<version>\d{1,18}))?"
    r"(?:/(?P<method>ready|infer))?"
)
SERVER = {"name": "bert", "version": "1", "extensions": ["binary_tensor_data"]}
# Name of the HTTP header with the length of the JSON in bytes. Clients send the
# header if binary tensors follow the JSON.
LENGTH_HEADER = "Inference-Header-Content-Length"
_TYPES = {"string": "BYTES", "float16": "FP16", "float32": "FP32"}
_TYPES |= {"float64": "FP64"}


def describe(name: str, version: LoadedVersion) -> dict[str, Any]:
    """Returns the metadata of a model's version.

    The metadata describe the inputs and outputs of only one signature: the
    default signature if there is one, otherwise the first signature.
    """
    about = version.description
    first = min(about.signatures, key=lambda n: n != protocol.DEFAULT_SIGNATURE)
    inputs, outputs = about.signatures[first]
    return {
        "name": name,
        "versions": [str(version.number)],
        "platform": f"{about.engine}_{about.precision}".lower(),
        "inputs": _describe(inputs),
        "outputs": _describe(outputs),
    }


def _describe(specs: Specs) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "datatype": _type_of(spec.dtype),
            "shape": spec.shape or (),
        }
        for name, spec in specs.items()
    ]


def _type_of(dtype: str) -> str:
    return _TYPES.get(dtype, dtype.upper())


def parse_call(
    record: RequestRecord, version: LoadedVersion
) -> tuple[str, dict[str, np.ndarray], dict[str, Any]]:
    """Parses the body of a request.

    If the body names a signature, that signature is called. Otherwise the first
    signature is called whose inputs are exactly the inputs of the request.

    Returns:
        the name of the signature, {name of an input: array}, and the JSON
        object of the body for `to_body`.

    Raises:
        RestError: the body is invalid, or the arrays fit no signature.
    """
    length = record.request.headers.get(LENGTH_HEADER)
    if length is not None and not re.fullmatch("[0-9]{1,18}", length):
        raise RestError(f"{LENGTH_HEADER} is not a number: {length[:20]}")
    end = len(record.content) if length is None else int(length)
    body = protocol.parse_body(record.content[:end])
    inputs, outputs = body.get("inputs"), body.setdefault("outputs", [])
    for entries in (inputs, outputs):
        if not isinstance(entries, list) or not all(
            isinstance(each, dict)
            and isinstance(each.get("name"), str)
            and isinstance(each.setdefault("parameters", {}), dict)
            for each in entries
        ):
            raise RestError("'inputs' and 'outputs' must be lists of objects")
    if not isinstance(body.setdefault("parameters", {}), dict):
        raise RestError("'parameters' must be an object")
    given = {each["name"] for each in body["inputs"]}
    data = record.content[end:]
    signatures = version.description.signatures
    wanted = body["parameters"].get("signature_name")
    names = sorted(signatures, key=lambda n: n != protocol.DEFAULT_SIGNATURE)
    for name in names:
        specs = signatures[name].inputs
        if wanted in (None, name) and specs.keys() == given:
            return name, _parse_inputs(body, data, specs), body
    takes = "; ".join(f"{n}: {', '.join(signatures[n].inputs)}" for n in names)
    raise RestError(
        "no signature of the model accepts these inputs; choose from " + takes
    )


def _parse_inputs(
    body: Mapping[str, Any], data: bytes, inputs: Specs
) -> dict[str, np.ndarray]:
    """Converts the tensors of a request to {name of an input: array}.

    `data` are the binary tensors after the JSON.
    """
    arrays = {}
    for entry in body["inputs"]:
        name, shape = entry["name"], entry.get("shape")
        spec = inputs[name]
        datatype = entry.get("datatype")
        expected = _type_of(spec.dtype)
        if datatype != expected and (datatype, expected) != ("INT64", "INT32"):
            raise RestError(
                f"{name} must have datatype {expected}. Received: {datatype!r}"
            )
        if not isinstance(shape, list) or not all(
            type(size) is int and 0 <= size < 1 << 31 for size in shape
        ):
            raise RestError(f"{name} needs a 'shape' of whole numbers")
        size = entry["parameters"].get("binary_data_size")
        if size is None:
            values = protocol.to_array(entry.get("data"), spec)
        elif type(size) is not int or not 0 <= size <= len(data):
            raise RestError(
                f"{name}: binary_data_size must be a whole number up to "
                f"{len(data)}, the number of bytes that remain in the body. "
                f"Received: {size!r}"
            )
        else:
            values = _from_bytes(name, data[:size], spec, datatype)
            data = data[size:]
        if values.size != math.prod(shape):
            raise RestError(
                f"{name}: {values.size} values do not fit the shape {shape}"
            )
        arrays[name] = values.reshape(shape)
    protocol.check_shapes(arrays, inputs)
    return arrays


def _from_bytes(
    name: str, data: bytes, spec: Spec, datatype: str
) -> np.ndarray:
    """Converts a tensor from the binary format to an array."""
    if datatype == "BYTES":
        texts, begin = [], 0
        while begin < len(data):
            end = begin + 4
            end += int.from_bytes(data[begin:end], "little")
            if end > len(data):
                raise RestError(
                    f"{name}: the length of a string exceeds the remaining data"
                )
            texts.append(data[begin + 4 : end])
            begin = end
        return np.array(texts, object)
    dtype = np.dtype("<i8") if datatype == "INT64" else spec.to_numpy()
    if len(data) % dtype.itemsize:
        raise RestError(
            f"{name}: the number of bytes must be a multiple of "
            f"{dtype.itemsize}, the size of {datatype}. Received: {len(data)}"
        )
    array = np.frombuffer(data, dtype.newbyteorder("<"))
    converted = array.astype(spec.to_numpy())
    if datatype == "INT64" and (converted != array).any():
        raise RestError(f"{name} has values outside the range of {spec.dtype}")
    return converted


def to_body(
    name: str,
    number: int,
    request: Mapping[str, Any],
    outputs: Mapping[str, np.ndarray],
) -> tuple[bytearray, dict[str, str]]:
    """Returns the body and the headers of a reply.

    Raises:
        RestError: the request names an output that does not exist.
    """
    is_binary = bool(request["parameters"].get("binary_data_output"))
    every = [{"name": key, "parameters": {}} for key in outputs]
    head = {"model_name": name, "model_version": str(number)}
    if isinstance(request.get("id"), str):
        head["id"] = request["id"]
    text = bytearray(json.dumps(head).encode()[:-1] + b', "outputs": [')
    binary = bytearray()
    for place, each in enumerate(request["outputs"] or every):
        if each["name"] not in outputs:
            raise RestError(
                f"there is no output {each['name'][:100]!r}; choose from "
                f"{', '.join(outputs)}"
            )
        value = outputs[each["name"]]
        entry: dict[str, Any] = {
            "name": each["name"],
            "datatype": _type_of(Spec.type_of(value)),
            "shape": value.shape,
        }
        text += b", " * (place > 0)
        if each["parameters"].get("binary_data", is_binary):
            if value.dtype == object:
                parts = (struct.pack("<I", len(x)) + x for x in value.flat)
                data = b"".join(parts)
            else:
                data = value.astype(value.dtype.newbyteorder("<")).tobytes()
            binary += data
            entry["parameters"] = {"binary_data_size": len(data)}
            text += json.dumps(entry).encode()
        else:
            text += json.dumps(entry).encode()[:-1] + b', "data": '
            for part in replies.to_json("", value.reshape(-1)):
                text += part.encode("utf-8", "replace")
            text += b"}"
    text += b"]}"
    if not binary:
        return text, {"Content-Type": "application/json"}
    return text + binary, {
        "Content-Type": "application/octet-stream",
        LENGTH_HEADER: str(len(text)),
    }
