"""Changes the files of a model at random, as damage or an attacker would.

A change keeps the format of the file in most cases, so that readers do not stop
at the first byte.

For example:

    content = change_bytes(path.read_bytes(), np.random.default_rng(1))
"""

import copy
import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import h5py
import numpy as np
import tensorflow as tf
from numpy.random import Generator
from tensorflow.core.protobuf.trackable_object_graph_pb2 import (
    TrackableObjectGraph,
)

T = TypeVar("T")
# What JSON contains: None, a bool, number or text, or a list or dict of them.
JsonValue: TypeAlias = Any

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
# Values of JSON that hardly any entry may have.
_VALUES = json.loads(
    r"""[
    null, true, false, 0, 1, -1, 0.5, 1e300, 2, 1000000, 2000000000,
    9223372036854775808, 1000000000000000000000000000000,
    "", "x", "a\nb", "\ud800", "\u0000", "0", "None",
    [], {}, [1], [null], [[]], [{}], [""], {"a": 1}, {"": null}, {"0": 5},
    {"content": 5}, {"content": "x", "id": 200000000}, {"__type": "x"}
    ]"""
)
_VALUES.append("x" * 5000)
_NAMES = json.loads(
    r"""[
    "", "x", "a\nb", "\u0000", "..", "/", "module.", "bert", "\u4e2d",
    "\u2028", "classifier.weight", "bert.encoder.layer.99999999999.x",
    "bert/encoder/layer_1000000000/output/dense/bias", "\ud800"
    ]"""
)
_NAMES.append("x" * 3000)
_SHAPES = json.loads(
    r"""[
    [], [0], [1], [-1], [2147483648], [1099511627776, 1099511627776],
    [9223372036854775808], [18446744073709551616], [1, 1, 1, 1, 1, 1, 1, 1, 1],
    ["x"], [null], [[]], [1.5], [true], [0, 4611686018427387904],
    "x", null, 5, {}
    ]"""
)
_DTYPES = ("F32", "F16", "BF16", "F64", "I64", "U8", "BOOL", "F8_E4M3", "", 5)


def pick(random: Generator, values: Sequence[T]) -> T:
    """Returns one of the values."""
    return values[int(random.integers(len(values)))]


def _pick_json(random: Generator) -> JsonValue:
    """Returns one of the values, as a copy that later changes may change."""
    return copy.deepcopy(pick(random, _VALUES))


def change_bytes(
    content: bytes, random: Generator, end: int | None = None
) -> bytes:
    """Changes, removes or adds bytes of a file, of its first `end` bytes."""
    changed = bytearray(content)
    end = min(end or len(changed), len(changed))
    for _ in range(random.integers(1, 5)):
        place = int(random.integers(max(end, 1)))
        kind = random.integers(8)
        if kind == 0:
            del changed[place:]
        elif kind == 1:
            changed[place:place] = random.bytes(int(random.integers(1, 9)))
        elif kind == 2:
            del changed[place : place + int(random.integers(1, 9))]
        else:
            changed[place : place + 1] = bytes([int(random.integers(256))])
    return bytes(changed)


def _places(value: JsonValue) -> Iterator[tuple[Any, Any]]:
    """Yields (container, key) of each value in a JSON value."""
    items: Iterable[tuple[Any, JsonValue]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def _change_value(value: JsonValue, random: Generator) -> JsonValue:
    """Changes, adds or removes one value inside a value of JSON."""
    # Large groups, such as vocabularies, would hide the others.
    places = []
    for place in _places(value):
        if len(place[0]) < 50 or random.integers(len(place[0])) < 3:
            places.append(place)
    if not places:
        return _pick_json(random)
    group, key = pick(random, places)
    kind = random.integers(8)
    if kind == 0:
        del group[key]
    elif kind == 1 and isinstance(group, dict):
        group[pick(random, _NAMES)] = group.pop(key)
    elif kind == 2 and isinstance(group, list):
        group.append(_pick_json(random))
    elif kind == 3 and isinstance(group[key], list | dict):
        group[key] = [group[key]]
    else:
        group[key] = _pick_json(random)
    return value


def change_json(content: bytes, random: Generator) -> bytes:
    """Changes values and names of a JSON file, or its text."""
    kind = random.integers(12)
    if kind == 0:
        return change_bytes(content, random)
    if kind == 1:
        depth = pick(random, (50, 100_000))
        nested = b"[" * depth + b"]" * depth
        return pick(random, (nested, b'{"a":' * depth + b"1" + b"}" * depth))
    if kind == 2:
        return json.dumps(pick(random, _VALUES)).encode()
    value = json.loads(content)
    for _ in range(random.integers(1, 3)):
        value = _change_value(value, random)
    text = json.dumps(value)
    if kind == 3:
        text = text.replace("{", '{"a": NaN, ', 1)
    return text.encode()


def change_safetensors(content: bytes, random: Generator) -> bytes:
    """Changes the header of a safetensors file."""
    kind = random.integers(10)
    size = struct.unpack("<Q", content[:8])[0]
    if kind == 0:
        return change_bytes(content, random, 8 + size)
    header = json.loads(content[8 : 8 + size])
    data = content[8 + size :]
    names = [name for name in header if name != "__metadata__"]
    for _ in range(random.integers(1, 3)):
        name = pick(random, names)
        entry = copy.deepcopy(header.get(name, {}))
        field = pick(random, ("shape", "dtype", "data_offsets", "name", "copy"))
        if field == "shape":
            entry["shape"] = copy.deepcopy(pick(random, _SHAPES))
        elif field == "dtype":
            entry["dtype"] = pick(random, _DTYPES)
        elif field == "data_offsets":
            ends = [0, 1, len(data), len(data) + 4, 2**62, -4, 2**64]
            entry["data_offsets"] = [pick(random, ends), pick(random, ends)]
        elif field == "name":
            header.pop(name, None)
            name = pick(random, _NAMES)
        else:
            name = pick(random, _NAMES)
        header[name] = entry
    if kind == 1:
        header = _change_value(header, random)
    text = json.dumps(header).encode()
    stated = len(text)
    if kind == 2:
        stated = pick(random, (0, 1, len(text) + 1, 2**32, 2**63, 2**64 - 1))
    return struct.pack("<Q", stated) + text + data


def _h5_values(random: Generator) -> dict[str, Any]:
    """Returns arguments of create_dataset that no reader expects."""
    number = pick(random, (0, 1, 3, 32))
    return pick(
        random,
        (
            {"data": np.zeros(number, "f4")},
            {"data": np.zeros((number, 2), "f8")},
            {"data": np.zeros((1600, 32), "f2")},
            {"data": np.zeros((32, 32), pick(random, ("i1", "u8", "c8", "?")))},
            {"data": np.float32(3)},
            {"data": "text"},
            {"data": np.zeros(3, h5py.ref_dtype)},
            {"data": np.zeros(3, [("a", "f4"), ("b", "i4")])},
            {"data": np.zeros(3, ("f4", (2**4,)))},
            {"data": h5py.Empty("f4")},
            {"data": np.zeros(3, "V2")},
            {"data": np.zeros(3, "S5")},
            {"shape": (32, 32), "dtype": h5py.vlen_dtype("f4")},
            {"shape": (2**40, 2**20), "dtype": "f4"},
            {"shape": (2**62,), "dtype": "f8", "chunks": (1,)},
            {"shape": (0, 2**62), "dtype": "f4"},
            {"shape": (32, 32), "dtype": "f4", "fillvalue": np.nan},
            {"shape": (32, 32), "dtype": "f4", "external": "/dev/zero"},
        ),
    )


def _change_h5(file: h5py.File, random: Generator) -> None:
    """Changes one dataset, its name or its attributes in an open file."""
    names: list[str] = []
    file.visit(names.append)
    sets = [name for name in names if isinstance(file[name], h5py.Dataset)]
    name = pick(random, sets)
    kind = random.integers(8)
    others = [
        name
        for name in _NAMES
        if name and "\0" not in name and "\ud800" not in name
    ]
    if kind == 0:
        del file[name]
    elif kind == 1:
        parent = name.rpartition("/")[0]
        file.move(name, f"{parent}/{len(names)}{pick(random, others)}")
    elif kind == 2:
        del file[name]
        file[name] = file["/"]
    elif kind == 3:
        place = pick(random, ("/x", name, "/"))
        links = (h5py.SoftLink(place), h5py.ExternalLink("/dev/zero", place))
        del file[name]
        file[name] = pick(random, links)
    elif kind == 4:
        values = ("x", np.zeros(100), np.zeros(3, "S9"), h5py.Empty("f4"))
        file[name].attrs["dtype"] = pick(random, values)
        file.attrs[pick(random, others)[:99]] = pick(random, values)
    else:
        del file[name]
        file.create_dataset(name, **_h5_values(random))


def change_h5(path: Path, random: Generator) -> None:
    """Changes datasets, names, attributes or bytes of an HDF5 file."""
    if random.integers(3) == 0:
        content = path.read_bytes()
        # The structure of the file is between its values, too.
        marks = (b"TREE", b"SNOD", b"HEAP", b"OHDR", b"\x89HDF")
        place = content.find(pick(random, marks))
        start = pick(random, (0, max(place, 0)))
        changed = change_bytes(content[start:], random, 400)
        path.write_bytes(content[:start] + changed)
        return
    with h5py.File(path, "r+") as file:
        for _ in range(random.integers(1, 3)):
            try:
                _change_h5(file, random)
            except (KeyError, OSError, RuntimeError, ValueError, TypeError):
                # An earlier change of this file excludes this change.
                continue


def _changed_graph(text: bytes, random: Generator) -> bytes:
    """Returns a serialized graph of objects with a few changed entries."""
    if random.integers(4) == 0:
        return change_bytes(text, random)
    graph = TrackableObjectGraph.FromString(text)
    for _ in range(random.integers(1, 4)):
        node = pick(random, [node for node in graph.nodes if node.attributes])
        value = pick(random, node.attributes)
        other = pick(random, pick(random, graph.nodes).attributes or [value])
        kind = random.integers(6)
        names = [name for name in _NAMES if name != "\ud800"]
        if kind == 0:
            value.full_name = pick(random, names)
        elif kind == 1:
            value.checkpoint_key = pick(random, names)
        elif kind == 2:
            value.full_name = other.full_name
        elif kind == 3:
            value.checkpoint_key = other.checkpoint_key
        elif kind == 4:
            value.name = pick(random, names)
        else:
            node.children.add(node_id=pick(random, (0, -1, 2**30)))
    changed: bytes = graph.SerializeToString()
    return changed


def change_bundle(prefix: Path, random: Generator) -> None:
    """Changes entries of a TensorFlow checkpoint, or bytes of its index."""
    index = prefix.with_name(f"{prefix.name}.index")
    kind = random.integers(4)
    if kind == 0:
        index.write_bytes(change_bytes(index.read_bytes(), random))
        return
    reader = tf.train.load_checkpoint(str(prefix))
    shapes = reader.get_variable_to_shape_map()
    values = {name: reader.get_tensor(name) for name in sorted(shapes)}
    if GRAPH in values and kind == 2:
        values[GRAPH] = _changed_graph(values[GRAPH], random)
    for _ in range(random.integers(1, 3)):
        if not values or (GRAPH in values and kind == 2):
            break
        name = pick(random, [*values])
        change = random.integers(4)
        if change == 0:
            del values[name]
        elif change == 1:
            names = [name for name in _NAMES if name and name != "\ud800"]
            values[pick(random, names)] = values.pop(name)
        else:
            shape = pick(random, ((), (0,), (3,), (32, 32), (2, 2, 2), (1600,)))
            types = ("float32", "float64", "int64", "bool", "str", "float16")
            values[name] = np.zeros(shape, pick(random, types))
    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=[*values],
        shape_and_slices=[""] * len(values),
        tensors=[tf.constant(value) for value in values.values()],
    )
