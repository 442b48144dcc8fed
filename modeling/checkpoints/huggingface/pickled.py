"""Reads tensors that torch wrote with pickle, without torch and safely.

A pickle may run any code when Python loads it, because it may call any class or
function. Here it gets only the names that tensors need, and each is replaced by
code of this module, which describes the tensors.
"""

import collections
import io
import os
import pickle
import pickletools
import reprlib
import struct
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

import ml_dtypes
import numpy as np

# First value of the files that torch wrote before version 1.6.
_LEGACY = 0x1950A86A20F9469CFC6C
# torch's storage: (safetensors's name, NumPy's type).
_STORAGES = {
    "torch DoubleStorage": ("F64", np.float64),
    "torch FloatStorage": ("F32", np.float32),
    "torch HalfStorage": ("F16", np.float16),
    "torch BFloat16Storage": ("BF16", ml_dtypes.bfloat16),
    "torch LongStorage": ("I64", np.int64),
    "torch IntStorage": ("I32", np.int32),
    "torch ShortStorage": ("I16", np.int16),
    "torch CharStorage": ("I8", np.int8),
    "torch ByteStorage": ("U8", np.uint8),
    "torch BoolStorage": ("BOOL", np.bool_),
}


class _Name(NamedTuple):
    """A class or a function that a pickle names; it is never imported."""

    name: str

    def __call__(self, *arguments: Any) -> Any:
        return _CALLS[self.name](*arguments)


class _Storage(NamedTuple):
    """Values that several tensors may share."""

    key: str
    kind: str
    size: int

    @property
    def num_bytes(self) -> int:
        return self.size * np.dtype(_STORAGES[self.kind][1]).itemsize


class _Tensor(NamedTuple):
    """Where a tensor lies in its storage, as safetensors's slices tell it."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def get_shape(self) -> list[int]:
        """Returns the tensor's shape."""
        return list(self.shape)

    def get_dtype(self) -> str:
        """Returns the name that safetensors uses for the tensor's type."""
        return _STORAGES[self.storage.kind][0]


class PickledTensors:
    """Reads the tensors of a `pytorch_model.bin`, as `safe_open` does.

    Args:
        path: a file that `torch.save` wrote, in its zip form or, before torch
            1.6, as pickles and bytes one after another.

    Raises:
        OSError: the file is damaged, or contains more than tensors.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        # {storage: position of its values}
        self._places: dict[str, int] = {}
        try:
            with open(path, "rb") as file:
                if file.peek(4).startswith(b"PK\x03\x04"):
                    found = self._find_zipped(file)
                else:
                    found = self._find_legacy(file)
            self._tensors = _check_tensors(found)
        except Exception as error:
            # A damaged or hostile file may cause any of Python's errors.
            raise OSError(
                f"it is damaged, or contains more than tensors: {error}"
            ) from error

    def keys(self) -> list[str]:
        """Returns the names of all tensors."""
        return [*self._tensors]

    def get_slice(self, name: str) -> _Tensor:
        """Returns a tensor's shape and type, without its values."""
        return self._tensors[name]

    def get_tensor(self, name: str) -> np.ndarray:
        """Returns a tensor."""
        storage, offset, shape, strides = self._tensors[name]
        dtype = np.dtype(_STORAGES[storage.kind][1])
        values = np.memmap(
            self._path,
            dtype,
            mode="r",
            offset=self._places[storage.key],
            shape=(storage.size,),
        )
        steps = [step * dtype.itemsize for step in strides]
        return np.ndarray(shape, dtype, values, offset * dtype.itemsize, steps)

    def _find_zipped(self, file: BinaryIO) -> Any:
        with zipfile.ZipFile(file) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            pickles = [name for name in entries if name.endswith("/data.pkl")]
            if len(pickles) != 1:
                raise ValueError("torch.save did not write it")
            folder = pickles[0].removesuffix("data.pkl")
            order = entries.get(f"{folder}byteorder")
            if order and archive.read(order) != b"little":
                raise ValueError("its numbers are big-endian")
            reader = _Unpickler(io.BytesIO(archive.read(pickles[0])))
            found = reader.load()
            for key, storage in reader.storages.items():
                entry = entries[f"{folder}data/{key}"]
                if entry.compress_type != zipfile.ZIP_STORED:
                    raise ValueError(f"{entry.filename} is compressed")
                if entry.file_size != storage.num_bytes:
                    raise ValueError(f"{entry.filename} has another size")
                # A local header may have other extra fields than the list.
                file.seek(entry.header_offset)
                *_, name, extra = struct.unpack("<26x2H", file.read(30))
                self._places[key] = entry.header_offset + 30 + name + extra
        return found

    def _find_legacy(self, file: BinaryIO) -> Any:
        if _Unpickler(file).load() != _LEGACY:
            raise ValueError("it does not begin as files of torch.save do")
        version, system = _Unpickler(file).load(), _Unpickler(file).load()
        if version != 1001 or not system["little_endian"]:
            raise ValueError("its version or its byte order is another one")
        reader = _Unpickler(file)
        found = reader.load()
        for key in _Unpickler(file).load():
            storage = reader.storages[key]
            (count,) = struct.unpack("<q", file.read(8))
            if count != storage.size:
                raise ValueError(f"storage {key} has {count} values")
            self._places[key] = file.tell()
            file.seek(storage.num_bytes, os.SEEK_CUR)
        if file.tell() > os.fstat(file.fileno()).st_size:
            raise ValueError("it is cut off")
        return found


def _check_tensors(found: Any) -> dict[str, _Tensor]:
    """Returns the tensors of a state dict; each lies inside its storage."""
    if not isinstance(found, dict):
        raise ValueError("no dictionary of tensors is in it")
    for name, tensor in found.items():
        if not isinstance(name, str) or not isinstance(tensor, _Tensor):
            raise ValueError(
                f"{reprlib.repr(name)} is no tensor, and only tensors may be"
            )
        last = tensor.offset + sum(
            (length - 1) * step
            for length, step in zip(tensor.shape, tensor.strides, strict=True)
        )
        if 0 not in tensor.shape and last >= tensor.storage.size:
            raise ValueError(f"{name} is larger than its storage")
    return found


def _create_tensor(
    storage: Any, offset: Any, shape: Any, strides: Any, *_: Any
) -> _Tensor:
    if not isinstance(storage, _Storage):
        raise ValueError(
            "a tensor's storage must be one of torch. Received: "
            f"{reprlib.repr(storage)}"
        )
    numbers = (offset, *shape, *strides)
    if not all(type(n) is int and 0 <= n < 2**62 for n in numbers):
        raise ValueError(
            "a tensor's offset, shape and strides must be integers from 0 up. "
            f"Received: {reprlib.repr(numbers)}"
        )
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


def _create_parameter(tensor: Any, *_: Any) -> _Tensor:
    if not isinstance(tensor, _Tensor):
        raise ValueError(
            f"a parameter must be a tensor. Received: {reprlib.repr(tensor)}"
        )
    return tensor


# What a pickle may call, and what happens instead.
_CALLS: dict[str, Callable[..., Any]] = {
    "collections OrderedDict": collections.OrderedDict,
    "torch._utils _rebuild_parameter": _create_parameter,
    "torch._utils _rebuild_parameter_with_state": _create_parameter,
    "torch._utils _rebuild_tensor": _create_tensor,
    "torch._utils _rebuild_tensor_v2": _create_tensor,
}


# The instructions that tensors need. Python would reserve gigabytes for some
# of the others.
_INSTRUCTIONS = frozenset(
    "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE EMPTY_DICT EMPTY_LIST "
    "EMPTY_TUPLE BINUNICODE SHORT_BINUNICODE BININT BININT1 BININT2 LONG1 "
    "BINFLOAT BINPUT LONG_BINPUT MEMOIZE BINGET LONG_BINGET TUPLE TUPLE1 "
    "TUPLE2 TUPLE3 APPEND APPENDS SETITEM SETITEMS GLOBAL STACK_GLOBAL "
    "BINPERSID REDUCE BUILD".split()
)


class _Unpickler(pickle.Unpickler):
    """Reads one pickle from a file, and leaves the file behind it.

    Attributes:
        storages: {key: storage} that the tensors refer to.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.storages: dict[str, _Storage] = {}
        start = file.tell()
        # {number of an object: the instruction that created it}
        created: dict[Any, str] = {}
        last = ""
        instructions: Any = pickletools.genops(file)
        for number, (code, argument, _) in enumerate(instructions):
            # Objects are numbered one after another.
            is_far = code.name == "LONG_BINPUT" and int(argument or 0) > number
            if code.name not in _INSTRUCTIONS or is_far:
                raise ValueError(
                    f"it has the instruction {code.name}, which tensors do not "
                    "need"
                )
            if "GET" in code.name and "TUPLE" in created[argument]:
                # To hash a tuple of a tuple twice, and so on, takes for ever.
                raise ValueError("it has one tuple in several places")
            if "PUT" in code.name or code.name == "MEMOIZE":
                created[len(created) if argument is None else argument] = last
            else:
                last = code.name
        file.seek(start)

    def find_class(self, module: str, name: str) -> _Name:
        found = _Name(f"{module} {name}")
        if found.name not in _CALLS and found.name not in _STORAGES:
            raise ValueError(
                f"it asks for {module}.{name}, which is no tensor and could "
                "run code"
            )
        return found

    def persistent_load(self, reference: Any) -> _Storage:
        """Returns the storage that a pickle refers to, and lists it."""
        kind, storage_type, key, _, size, *view = reference
        if (
            kind != "storage"
            or not isinstance(key, str)
            or type(size) is not int
            or size < 0
            or view not in ([], [None])
            or getattr(storage_type, "name", None) not in _STORAGES
        ):
            raise ValueError(f"it refers to {reprlib.repr(reference)}")
        storage = _Storage(key, storage_type.name, size)
        if self.storages.setdefault(key, storage) != storage:
            raise ValueError(f"storage {key} is of two types")
        return storage
