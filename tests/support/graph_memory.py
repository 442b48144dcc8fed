"""Measures the memory that graphs need for texts, in a separate process.

    python -m tests.support.graph_memory MODEL SIGNATURE BYTES [SHAPE ...]

MODEL is the folder of a SavedModel, or the file of a vocabulary.
This command prints one JSON line for each shape: its name, the bytes of its
texts, and the bytes of memory that the graph needed. A graph may also reject
texts, such as texts whose lengths differ too much.
"""

import contextlib
import ctypes
import gc
import json
import random
import resource
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from files.paths import StrPath
from tests.support import fresh_process

# Maximum bytes that a request may allocate. Above it, the process fails.
LIMIT = 6 << 30
# Bytes of memory that even an empty request needs.
BASE = 16 << 20


_ODD = ["a", " ", "the boat", "\u4e2d", ".", "\u0301", "\x01", "\uac01"]
_ODD += ["\u03a3", "\u0323", "x" * 300]
# {name: function (bytes) -> texts of about this size, hard for a tokenizer}
_SHAPES: dict[str, Callable[[int], list[str]]] = {
    "one_word": lambda size: ["a" * size],
    "one_letter_words": lambda size: ["a " * (size // 2)],
    "long_and_short_words": lambda size: [
        "a" * (size // 2) + " word" * (size // 10)
    ],
    "long_word_next_to_texts": lambda size: [
        "a" * (size // 2),
        "word " * (size // 10),
        "x",
    ],
    "one_long_text": lambda size: (
        ["the boat " * (size // 18)] + ["the boat"] * (size // 16)
    ),
    "ideographs": lambda size: ["\u4e2d" * (size // 3)],
    "marks": lambda size: ["a" + "\u0301\u0323" * (size // 4)],
    "moved_marks": lambda size: ["\uac01\U0001d165\U0001d16d" * (size // 11)],
    "punctuation": lambda size: ["." * size],
    "spaces": lambda size: [" " * size],
    "controls": lambda size: ["\x01" * size],
    "hangul": lambda size: ["\uac01" * (size // 3)],
    "sigmas": lambda size: ["\u03a3" * (size // 2)],
    "words_at_the_limit": lambda size: [("a" * 199 + " ") * (size // 200)],
    "rare_next_to_plain": lambda size: [
        "a " * (size // 2) + "\u03a3 \uac01 \U0001d15e\u0323\U0001d15e"
    ],
    "mixed": lambda size: [
        "".join(random.Random(1).choices(_ODD, k=size // 30))
    ],
}
TOKENIZER_SHAPES = [*_SHAPES]


def measure_shapes(
    path: StrPath, signature: str, size: int, shapes: Iterable[str]
) -> list[Any]:
    """Returns the JSON lines that a new process prints, as dicts."""
    arguments = [str(path), signature, str(size), *shapes]
    program = ["-m", "tests.support.graph_memory"]
    done = fresh_process.run(*program, *arguments).check()
    return list(map(json.loads, done.stdout.splitlines()))


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) << 10
    raise KeyError(key)


def _create_call(
    path: str, signature: str
) -> tuple[Callable[[list[str]], object], int]:
    """Returns a function of texts: a SavedModel's, or that of a tokenizer.

    Also returns the bytes of the short texts that it adds for each text.
    """
    import tensorflow as tf

    if Path(path).is_dir():
        model = tf.saved_model.load(path)
        function = model.signatures[signature]
        names = sorted(function.structured_input_signature[1])
        # Input with the long texts. All other inputs get short texts.
        field = "context" if "context" in names else names[0]

        def call(texts: list[str]) -> object:
            inputs = {name: ["the boat"] * len(texts) for name in names}
            inputs[field] = texts
            if signature == "fill_mask":
                inputs[field] = ["[MASK] " + text for text in texts]
            tensors = {
                name: tf.constant(value) for name, value in inputs.items()
            }
            return function(**tensors)

        return call, len("the boat") * (len(names) - 1)
    from data.text.tokenization import FullTokenizer

    layer = FullTokenizer(path).layer
    function = tf.function(
        lambda texts: layer(texts),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    return lambda texts: function(tf.constant(texts)), 0


def main(path: str, signature: str, size: str, *shapes: str) -> None:
    """Measures the shapes, and prints a JSON line for each."""
    import tensorflow as tf

    call, other_bytes = _create_call(path, signature)
    call(["Warm up: \u03a3\u03a3 \uac01 \U0001d15e\u0323\U0001d15e \u4e2d", ""])
    limit = _status("VmSize") + LIMIT
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for shape in shapes:
        texts = _SHAPES[shape](int(size))
        num_bytes = sum(len(text.encode()) for text in texts)
        # Also count the short texts, such as the question of each passage.
        num_bytes += other_bytes * len(texts)
        gc.collect()
        # Return the memory of earlier shapes to the system, and reset the peak.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        with contextlib.suppress(tf.errors.InvalidArgumentError):
            call(texts)
        memory = _status("VmHWM") - before
        line = {"shape": shape, "bytes": num_bytes, "memory": memory}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
