"""Writes the vectors that BERT's layers compute for the tokens of texts.

L = number of layers, N = number of tokens in a text, W = width of a vector.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from files import run_files
from files.atomic import atomic_open, is_remote, write_text
from files.json_files import format_json
from files.paths import StrPath

# Maximum number of lines of text, and of tokens, to write for TensorBoard's
# projector. A browser cannot show more points.
MAX_POINTS = 10_000
_CONFIG = "projector_config.pbtxt"
_KINDS = ("lines", "tokens")
_FILES = [f"{kind}{part}" for kind in _KINDS for part in ("", "_metadata")]
_CONFIG_TEXT = "".join(
    f'embeddings {{\n  tensor_name: "{kind}"\n'
    f'  tensor_path: "{kind}.tsv"\n'
    f'  metadata_path: "{kind}_metadata.tsv"\n}}\n'
    for kind in _KINDS
)

run_files.register(_CONFIG, *(f"{name}.tsv" for name in _FILES))


@contextlib.contextmanager
def json_writer(
    path: StrPath, layer_names: Sequence[int | str]
) -> Iterator[Callable[..., None]]:
    """Opens a file to write vectors as JSON lines, as Google's code does.

    The file appears when the `with` block ends without an error.

    Args:
        path: path of the file to write.
        layer_names: list of L ints or strs, the layers' names in the file.

    Yields:
        a function (tokens, layers, pooled) that writes one text. `tokens` is a
        list of N str, `layers` is float [L, N, W], and `pooled` is float [W]
        or None.

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
        # Swap the axes to [N, L, W]. Round in double precision, because JSON
        # would show a rounded float32 as 0.10000000149011612.
        vectors = np.round(layers.astype(np.float64), 6).swapaxes(0, 1)
        line = {
            "linex_index": num_lines,
            "features": [
                {
                    "token": token,
                    "layers": [
                        {"index": name, "values": values.tolist()}
                        for name, values in zip(layer_names, rows, strict=True)
                    ],
                }
                for token, rows in zip(tokens, vectors, strict=True)
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
    path: StrPath, layer_names: Sequence[int | str]
) -> Iterator[Callable[..., None]]:
    """Opens an .npz file to write vectors. `np.load` reads such a file.

    The file contains `values` float32 [all texts' tokens, L, W], `tokens` str
    [all texts' tokens], `offsets` int64 [number of texts + 1] and `layers` [L].
    The tokens of text i begin at offsets[i] and end before offsets[i + 1]. If
    the caller passes `pooled`, the file also contains `pooled` float32
    [number of texts, W]. A temporary file stores the vectors, to save memory.
    The .npz file appears when the `with` block ends without an error.

    `json_writer` documents the arguments, the yielded function and the errors.
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
    with (
        tempfile.TemporaryFile(dir=folder) as values,
        atomic_open(path) as output,
    ):
        yield write
        values.flush()
        shape = (len(tokens_of_all), len(layer_names), width)
        arrays: dict[str, Any] = {
            # An empty file cannot be mapped into memory, so create an empty
            # array if there are no tokens.
            "values": np.memmap(values, "<f4", "r", shape=shape)
            if tokens_of_all
            else np.zeros(shape, "<f4"),
            "tokens": np.array(tokens_of_all, np.str_),
            "offsets": np.array(offsets, np.int64),
            "layers": np.array(layer_names),
        }
        if pooled_of_all:
            arrays["pooled"] = np.stack(pooled_of_all)
        np.savez(output, **arrays)


@contextlib.contextmanager
def projector_writer(folder: StrPath) -> Iterator[Callable[..., None]]:
    """Opens files to write vectors as points for TensorBoard's projector.

    `lines.tsv` contains the pooled output of each line of text, and
    `tokens.tsv` the vector of each token. `lines_metadata.tsv` and
    `tokens_metadata.tsv` contain the line or token that each vector represents.
    Each file contains at most the first MAX_POINTS vectors. The files appear
    when the `with` block ends without an error. `tensorboard --logdir=FOLDER`
    shows the vectors as points under "Projector".

    Yields:
        a function (tokens, vectors, pooled) that adds one line of text.
        `tokens` is a list of N str that begins with [CLS] and ends with [SEP],
        `vectors` is float [N, W], and `pooled` is float [W].

    Raises:
        OSError: a file cannot be written, or would replace a file that
            `projector_writer` did not write.
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    config = path / _CONFIG
    is_ours = config.is_file() and config.read_bytes() == _CONFIG_TEXT.encode()
    for name in (_CONFIG, *(f"{name}.tsv" for name in _FILES)):
        if os.path.lexists(path / name) and not is_ours:
            raise FileExistsError(
                f"{path / name} already exists, and --projector_dir did not "
                "write it; use another folder"
            )
    # Write the configuration first. It tells a later call that this function
    # wrote the files of the folder, so the call may replace them.
    write_text(path / _CONFIG, _CONFIG_TEXT)
    counts = dict.fromkeys(_KINDS, 0)
    with contextlib.ExitStack() as stack:
        files: dict[str, IO[bytes]] = {
            name: stack.enter_context(atomic_open(path / f"{name}.tsv"))
            for name in _FILES
        }
        # The projector expects a header line only in a file with several
        # columns. `lines_metadata` contains a single column.
        files["tokens_metadata"].write(b"token\tline\ttext\n")

        def add(kind: str, vector: np.ndarray, *cells: object) -> None:
            if counts[kind] == MAX_POINTS:
                return
            counts[kind] += 1
            numbers = "\t".join(f"{value:.6g}" for value in vector)
            files[kind].write(f"{numbers}\n".encode())
            # Replace tabs and line feeds by spaces, because a tab would end the
            # cell and a line feed would end the line.
            row = "\t".join(" ".join(str(cell).split()) for cell in cells)
            files[f"{kind}_metadata"].write(f"{row}\n".encode())

        num_lines = 0

        def write(
            tokens: Sequence[str], vectors: np.ndarray, pooled: np.ndarray
        ) -> None:
            nonlocal num_lines
            num_lines += 1
            text = " ".join(tokens[1:-1]).replace(" ##", "") or "(empty)"
            add("lines", pooled, text)
            for token, vector in zip(tokens, vectors, strict=True):
                add("tokens", vector, token, num_lines, text)

        yield write
