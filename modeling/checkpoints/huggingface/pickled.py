"""Reads tensors that torch wrote with pickle, safely and without torch.

Loading a pickle can run any code, because a pickle can call any class or
function. This module allows only the names that tensors need. Instead of
torch's functions it calls its own, which only describe the tensors.
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

from files.paths import StrPath

# First value in each file that a torch version before 1.6 wrote.
_LEGACY = 0x1950A86A20F9469CFC6C
# {storage class of torch: (name of the dtype in safetensors, NumPy's dtype)}.
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
    """Name of a class or function that a pickle refers to.

    The class or function is never imported. Calling an object of this type
    calls the replacement in _CALLS.
    """

    name: str

    def __call__(self, *arguments: Any) -> Any:
        return _CALLS[self.name](*arguments)


class _Storage(NamedTuple):
    """A block of values, which several tensors may use.

    Attributes:
        key: name of the block in the file.
        kind: torch's storage class, a key of _STORAGES.
        size: number of values.
    """

    key: str
    kind: str
    size: int

    @property
    def num_bytes(self) -> int:
        return self.size * np.dtype(_STORAGES[self.kind][1]).itemsize


class _Tensor(NamedTuple):
    """Position of a tensor in its storage, with the methods of `PySafeSlice`.

    The offset and the strides count values, not bytes.
    """

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
    """Reads a `pytorch_model.bin`, with the methods of `safe_open`.

    Args:
        path: path of a file that `torch.save` wrote, either a zip file or, from
            versions before 1.6, a sequence of pickles and bytes.

    Raises:
        OSError: the file is damaged, or contains objects other than tensors.
    """

    def __init__(self, path: StrPath) -> None:
        self._path = path
        # {key of a storage: position of its values in the file, in bytes}
        self._places: dict[str, int] = {}
        try:
            with open(path, "rb") as file:
                if file.peek(4).startswith(b"PK\x03\x04"):
                    found = self._find_zipped(file)
                else:
                    found = self._find_legacy(file)
            if not isinstance(found, dict):
                raise ValueError("the file contains no dictionary of tensors")
            for name, tensor in found.items():
                _check_tensor(name, tensor)
            self._tensors: dict[str, _Tensor] = found
        except Exception as error:
            # A damaged or hostile file may cause any exception.
            raise OSError(
                "the file is damaged, or contains objects other than tensors: "
                f"{error}"
            ) from error

    def keys(self) -> list[str]:
        """Returns the names of all tensors."""
        return [*self._tensors]

    def get_slice(self, name: str) -> _Tensor:
        """Returns a tensor's shape and type, without its values."""
        return self._tensors[name]

    def get_tensor(self, name: str) -> np.ndarray:
        """Returns the values of a tensor."""
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
                raise ValueError("torch.save did not write this file")
            folder = pickles[0].removesuffix("data.pkl")
            order = entries.get(f"{folder}byteorder")
            if order and archive.read(order) != b"little":
                raise ValueError("the numbers are big-endian")
            reader = _Unpickler(io.BytesIO(archive.read(pickles[0])))
            found = reader.load()
            for key, storage in reader.storages.items():
                entry = entries[f"{folder}data/{key}"]
                if entry.compress_type != zipfile.ZIP_STORED:
                    raise ValueError(f"{entry.filename} is compressed")
                if entry.file_size != storage.num_bytes:
                    raise ValueError(
                        f"{entry.filename} is not as long as the pickle says"
                    )
                # Read the local header, because its extra fields may differ
                # from the extra fields in the central directory.
                file.seek(entry.header_offset)
                *_, name, extra = struct.unpack("<26x2H", file.read(30))
                self._places[key] = entry.header_offset + 30 + name + extra
        return found

    def _find_legacy(self, file: BinaryIO) -> Any:
        if _Unpickler(file).load() != _LEGACY:
            raise ValueError("the first bytes are not torch's magic number")
        version, system = _Unpickler(file).load(), _Unpickler(file).load()
        if version != 1001 or not system["little_endian"]:
            raise ValueError(
                "the file must have torch's protocol version 1001 and "
                "little-endian byte order"
            )
        reader = _Unpickler(file)
        found = reader.load()
        for key in _Unpickler(file).load():
            storage = reader.storages[key]
            (count,) = struct.unpack("<q", file.read(8))
            if count != storage.size:
                raise ValueError(
                    f"storage {key} has {count} values, not as many as the "
                    "pickle says"
                )
            self._places[key] = file.tell()
            file.seek(storage.num_bytes, os.SEEK_CUR)
        if file.tell() > os.fstat(file.fileno()).st_size:
            raise ValueError("the end of the file is missing")
        return found


def _check_tensor(name: Any, tensor: Any) -> None:
    if not isinstance(name, str) or not isinstance(tensor, _Tensor):
        raise ValueError(
            "the dictionary must map names to tensors. Received the key: "
            f"{reprlib.repr(name)}"
        )
    last = tensor.offset + sum(
        (length - 1) * step
        for length, step in zip(tensor.shape, tensor.strides, strict=True)
    )
    if 0 not in tensor.shape and last >= tensor.storage.size:
        raise ValueError(f"tensor {name} exceeds its storage")


def _create_tensor(
    storage: Any, offset: Any, shape: Any, strides: Any, *_: Any
) -> _Tensor:
    if not isinstance(storage, _Storage):
        raise ValueError(
            "a tensor must refer to a torch storage object. Received: "
            f"{reprlib.repr(storage)}"
        )
    numbers = (offset, *shape, *strides)
    if not all(type(n) is int and 0 <= n < 2**62 for n in numbers):
        raise ValueError(
            "a tensor's offset, shape and strides must be nonnegative "
            f"integers. Received: {reprlib.repr(numbers)}"
        )
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


def _create_parameter(tensor: Any, *_: Any) -> _Tensor:
    if not isinstance(tensor, _Tensor):
        raise ValueError(
            f"a parameter must be a tensor. Received: {reprlib.repr(tensor)}"
        )
    return tensor


# {name of a function that a pickle may call: function to call instead}.
_CALLS: dict[str, Callable[..., Any]] = {
    "collections OrderedDict": collections.OrderedDict,
    "torch._utils _rebuild_parameter": _create_parameter,
    "torch._utils _rebuild_parameter_with_state": _create_parameter,
    "torch._utils _rebuild_tensor": _create_tensor,
    "torch._utils _rebuild_tensor_v2": _create_tensor,
}


# The opcodes (instructions of a pickle) that tensors need. Other opcodes could
# make Python reserve gigabytes of memory.
_INSTRUCTIONS = frozenset(
    "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE EMPTY_DICT EMPTY_LIST "
    "EMPTY_TUPLE BINUNICODE SHORT_BINUNICODE BININT BININT1 BININT2 LONG1 "
    "BINFLOAT BINPUT LONG_BINPUT MEMOIZE BINGET LONG_BINGET TUPLE TUPLE1 "
    "TUPLE2 TUPLE3 APPEND APPENDS SETITEM SETITEMS GLOBAL STACK_GLOBAL "
    "BINPERSID REDUCE BUILD".split()
)


class _Unpickler(pickle.Unpickler):
    """Reads one pickle from a file, up to the pickle's end.

    Attributes:
        storages: {key: storage} of all storages that the tensors refer to.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.storages: dict[str, _Storage] = {}
        start = file.tell()
        # {memo index of an object: name of the opcode that created the object}
        created: dict[Any, str] = {}
        last = ""
        instructions: Any = pickletools.genops(file)
        for number, (code, argument, _) in enumerate(instructions):
            # A pickle numbers its objects one after another, so no memo index
            # exceeds the number of opcodes so far. Python would reserve memory
            # for a larger index.
            is_far = code.name == "LONG_BINPUT" and int(argument or 0) > number
            if code.name not in _INSTRUCTIONS or is_far:
                raise ValueError(
                    f"the pickle contains the instruction {code.name}, which "
                    "tensors do not need"
                )
            if "GET" in code.name and "TUPLE" in created[argument]:
                # If each tuple contained the previous tuple twice, hashing the
                # last tuple would never end.
                raise ValueError("the pickle uses one tuple in several places")
            if "PUT" in code.name or code.name == "MEMOIZE":
                created[len(created) if argument is None else argument] = last
            else:
                last = code.name
        file.seek(start)

    def find_class(self, module: str, name: str) -> _Name:
        found = _Name(f"{module} {name}")
        if found.name not in _CALLS and found.name not in _STORAGES:
            raise ValueError(
                f"the pickle asks for {module}.{name}, which is not part of "
                "a tensor and could run code"
            )
        return found

    def persistent_load(self, reference: Any) -> _Storage:
        """Returns the storage that the pickle refers to.

        Also records the storage in `storages`.
        """
        kind, storage_type, key, _, size, *view = reference
        if (
            kind != "storage"
            or not isinstance(key, str)
            or type(size) is not int
            or size < 0
            or view not in ([], [None])
            or getattr(storage_type, "name", None) not in _STORAGES
        ):
            raise ValueError(
                f"the pickle refers to {reprlib.repr(reference)}, which is not "
                "a torch storage"
            )
        storage = _Storage(key, storage_type.name, size)
        if self.storages.setdefault(key, storage) != storage:
            raise ValueError(f"storage {key} occurs with two types or sizes")
        return storage
