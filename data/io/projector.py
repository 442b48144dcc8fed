"""Writes vectors as TensorBoard's embedding projector opens them.

`tensorboard --logdir=DIR` shows them under "Projector". T = WordPieces of a
line, W = width.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from files import atomic, run_files

# Maximum points of each kind that a browser still handles.
MAX_POINTS = 10_000
_CONFIG = "projector_config.pbtxt"
_KINDS = ("lines", "tokens")
_PARTS = ("", "_metadata")
_CONFIG_TEXT = "".join(
    f'embeddings {{\n  tensor_name: "{kind}"\n'
    f'  tensor_path: "{kind}.tsv"\n'
    f'  metadata_path: "{kind}_metadata.tsv"\n}}\n'
    for kind in _KINDS
)

run_files.register(
    _CONFIG, *(f"{kind}{part}.tsv" for kind in _KINDS for part in _PARTS)
)

# (WordPieces, vectors [T, W], pooled output [W]) of one line.
Write = Callable[[Sequence[str], np.ndarray, np.ndarray], None]


@contextlib.contextmanager
def projector_writer(folder: str | os.PathLike[str]) -> Iterator[Write]:
    """Yields a function that adds a line of text to the projector's files.

    It adds the line's pooled output to `lines`, and each WordPiece's vector to
    `tokens`; points beyond MAX_POINTS are dropped. The files appear whole or
    not at all.

    Args:
        folder: gets `lines.tsv` and `tokens.tsv`, a vector a line;
            `lines_metadata.tsv` and `tokens_metadata.tsv`, what they are of;
            and the projector's configuration.

    Raises:
        OSError: a file cannot be written, or is there and is not the
            projector's.
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    _check_may_replace(path)
    # Written first: it marks the others as ours.
    atomic.write_text(path / _CONFIG, _CONFIG_TEXT)
    counts = dict.fromkeys(_KINDS, 0)
    with contextlib.ExitStack() as stack:
        files: dict[str, IO[bytes]] = {
            f"{kind}{part}": stack.enter_context(
                atomic.atomic_open(path / f"{kind}{part}.tsv")
            )
            for kind in counts
            for part in _PARTS
        }
        # One column needs no heading, several do.
        files["tokens_metadata"].write(b"token\tline\ttext\n")

        def add(kind: str, vector: np.ndarray, *cells: object) -> None:
            if counts[kind] == MAX_POINTS:
                return
            counts[kind] += 1
            numbers = "\t".join(f"{value:.6g}" for value in vector)
            files[kind].write(f"{numbers}\n".encode())
            # White space of all kinds would end a cell, or the line.
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


def _check_may_replace(path: Path) -> None:
    """Refuses files that an earlier call did not write.

    Raises:
        FileExistsError: there is one.
    """
    config = path / _CONFIG
    if config.is_file() and config.read_bytes() == _CONFIG_TEXT.encode():
        return
    names = [f"{kind}{part}.tsv" for kind in _KINDS for part in _PARTS]
    for name in (_CONFIG, *names):
        if os.path.lexists(path / name):
            raise FileExistsError(
                f"{path / name} already exists and was not written by the "
                "projector; give another folder"
            )
