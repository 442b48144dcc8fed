"""Opens weights in one or several files, with the interface of safetensors."""

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import safetensors

from files.json_files import read_json
from modeling.checkpoints.huggingface.pickled import PickledTensors

_IS_INDEX = re.compile(r"(?:safetensors|bin)\.index\.json$")


@contextlib.contextmanager
def open_tensors(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Opens the weights in a file, or in all files that an index names.

    Yields:
        an object with the methods of safetensors' `safe_open`.

    Raises:
        OSError: a file cannot be read. The message names the file.
    """
    try:
        if _IS_INDEX.search(str(path)):
            with contextlib.ExitStack() as stack:
                yield _Shards(path, stack)
        elif str(path).endswith(".bin"):
            yield PickledTensors(path)
        else:
            with safetensors.safe_open(path, framework="np") as file:
                yield file
    except (safetensors.SafetensorError, OSError) as error:
        if " cannot be read: " in str(error):
            # The error already names the file, which may be one of several.
            raise
        raise OSError(
            f"{path} cannot be read: {error}{_hint_of_pointer(path)}"
        ) from error


def _hint_of_pointer(path: str | os.PathLike[str]) -> str:
    """Returns advice for an error about an unreadable file, or ""."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if file.read(16) == b"version https://":
            return "; the file is a pointer of Git LFS: run `git lfs pull`"
        if not _IS_INDEX.search(str(path)):
            return "; copy or download the file again"
    return ""


class _Shards:
    """Reads tensors from several files, with the methods of `safe_open`."""

    def __init__(
        self, path: str | os.PathLike[str], stack: contextlib.ExitStack
    ) -> None:
        places = read_json(path).get("weight_map")
        if not isinstance(places, dict) or not all(
            isinstance(place, str) and place == os.path.basename(place)
            for place in places.values()
        ):
            raise OSError("`weight_map` must name files in the index's folder")
        files = {
            place: stack.enter_context(
                open_tensors(os.path.join(os.path.dirname(path), place))
            )
            for place in set(places.values())
        }
        for place, file in files.items():
            there = {*file.keys()}
            for name in places:
                if places[name] == place and name not in there:
                    raise OSError(
                        f"{path} cannot be read: {place} lacks tensor {name}"
                    )
        self._files = {name: files[place] for name, place in places.items()}

    def keys(self) -> list[str]:
        """Returns the names of all tensors."""
        return [*self._files]

    def get_tensor(self, name: str) -> np.ndarray:
        """Returns the values of a tensor."""
        return self._files[name].get_tensor(name)

    def get_slice(self, name: str) -> Any:
        """Returns a tensor's shape and type, without its values."""
        return self._files[name].get_slice(name)
