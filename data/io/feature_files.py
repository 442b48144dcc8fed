"""Writes files of the vectors that BERT computes for tokens.

L = layers, N = tokens of a text, W = width of a vector.
"""

import contextlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO

import numpy as np

from files.atomic import atomic_open, is_remote
from files.json_files import format_json


@contextlib.contextmanager
def json_writer(
    path: str | os.PathLike[str], layer_names: Sequence[int | str]
) -> Iterator[Callable[..., None]]:
    """Opens a file of JSON lines, as the original writes; it appears whole.

    Args:
        path: the file.
        layer_names: list of L ints or strs, the layers' names.

    Yields:
        a function (tokens, layers, pooled) that writes a text: list of N
        str, float [L, N, W], and float [W] or None.

    Raises:
        OSError: the file cannot be written.
        ValueError: a value is not finite.
    """
    num_lines = 0

    def write(
        tokens: Sequence[str],
        layers: np.ndarray,
        pooled: np.ndarray | None = None,
    ) -> None:
        nonlocal num_lines
        # In double precision, so that a rounded value is written short.
        rounded = np.round(layers.astype(np.float64), 6)
        line = {
            "linex_index": num_lines,
            "features": [
                {
                    "token": token,
                    "layers": [
                        {
                            "index": name,
                            "values": rounded[layer, position].tolist(),
                        }
                        for layer, name in enumerate(layer_names)
                    ],
                }
                for position, token in enumerate(tokens)
            ],
        }
        if pooled is not None:
            line["pooled"] = np.round(pooled.astype(np.float64), 6).tolist()
        num_lines += 1
        text = format_json(line, f"{path}, line {num_lines}")
        output.write(f"{text}\n".encode())

    with atomic_open(path) as output:
        yield write


@contextlib.contextmanager
def npz_writer(
    path: str | os.PathLike[str], layer_names: Sequence[int | str]
) -> Iterator[Callable[..., None]]:
    """Opens a file for `np.load`; it appears whole.

    It holds `values` float32 [all texts' tokens, L, W], `tokens` str [all
    texts' tokens], `offsets` int64 [texts + 1], `layers` [L] and, if vectors
    of texts are written, `pooled` float32 [texts, W]; the tokens of text i
    are those from offsets[i] to offsets[i + 1]. Values are not
    held in memory while they are written.

    The arguments, the function yielded and the errors are json_writer's.
    """
    tokens_of_all: list[str] = []
    pooled_of_all: list[np.ndarray] = []
    offsets, width = [0], 0

    def write(
        tokens: Sequence[str],
        layers: np.ndarray,
        pooled: np.ndarray | None = None,
    ) -> None:
        nonlocal width
        width = layers.shape[-1]
        # [L, N, W] -> [N, L, W]
        rows = np.ascontiguousarray(layers.swapaxes(0, 1), "<f4")
        values.write(rows.data)
        tokens_of_all.extend(tokens)
        offsets.append(len(tokens_of_all))
        if pooled is not None:
            pooled_of_all.append(pooled.astype(np.float32))

    folder = None
    if not is_remote(path) and (
        os.path.isfile(path) or not os.path.exists(path)
    ):
        folder = os.path.dirname(path) or "."
        os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as values:
        with atomic_open(path) as output:
            yield write
            arrays: dict[str, np.ndarray] = {
                "tokens": np.array(tokens_of_all, np.str_),
                "offsets": np.array(offsets, np.int64),
                "layers": np.array(layer_names),
            }
            if pooled_of_all:
                arrays["pooled"] = np.stack(pooled_of_all)
            shape = (len(tokens_of_all), len(layer_names), width)
            with zipfile.ZipFile(output, "w") as archive:
                with archive.open("values.npy", "w", force_zip64=True) as npy:
                    _write_values(npy, values, shape)
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w") as npy:
                        np.lib.format.write_array(npy, array)


def _write_values(
    npy: IO[bytes], values: IO[bytes], shape: tuple[int, ...]
) -> None:
    """Writes an array in NumPy's format from a file of its values."""
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(npy, header)
    values.seek(0)
    shutil.copyfileobj(values, npy)
