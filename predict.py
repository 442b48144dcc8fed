"""Asks an exported model about lines of text, from the command line or a pipe.

Reads JSON objects, one a line, and writes one for each:

    fill-mask      {"text": "The [MASK] is blue."}  -> {"masks": [[{"token": ..
    next-sentence  {"text_a": "..", "text_b": ".."} -> {"probability": ..}
    classify       {"text_a": ".."}, text_b if any  -> {"label": .., ..}
    answer         {"question": "..", "context": ".."} -> {"answer": .., ..}
    tag            {"text": ".."} or {"words": [..]}   -> {"words": .., ..}
    embed          {"text": ".."}                      -> {"pooled": ..}

An "id" is passed on. A line that cannot be used gives {"line", "error"}.
"""

import itertools
import queue
import sys
import threading

from absl import flags, logging

from files import paths
from files.atomic import atomic_open
from training import cli

FLAGS = flags.FLAGS


def define_flags():
    """Defines the flags."""
    cli.define_path(
        "model",
        paths.Kind.MODEL,
        "Folder of a SavedModel, as --export_dir writes it.",
    )
    flags.DEFINE_enum(
        "task",
        None,
        [
            *("fill-mask", "next-sentence", "classify"),
            *("answer", "tag", "embed"),
        ],
        "What to ask; by default the first that the model can do.",
    )
    cli.define_path(
        "input_file",
        paths.Kind.INPUT_FILE,
        "JSON lines to read; by default standard input.",
    )
    cli.define_path(
        "output_file",
        paths.Kind.OUTPUT_FILE,
        "JSON lines to write; by default standard output.",
    )
    flags.DEFINE_integer(
        "batch_size",
        32,
        "Most lines that the model takes at a time; it does not wait for them.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "top_k",
        5,
        "fill-mask: WordPieces given for each mask, at most as many as the "
        "export gives.",
        lower_bound=1,
    )
    flags.DEFINE_bool(
        "tokens", False, "embed: give each WordPiece and its vector too."
    )
    flags.DEFINE_bool(
        "strict", False, "End at the first line that cannot be used."
    )


def read_batches(lines, batch_size):
    """Yields lists of (number, line): what has come, and at least one.

    A thread reads, so that a line on a pipe is answered when it is there,
    and those that come meanwhile go together.

    Args:
        lines: iterable of bytes.
        batch_size: most lines in a list.
    """
    waiting = queue.Queue(maxsize=4 * batch_size)

    def read():
        try:
            for numbered in enumerate(lines, start=1):
                waiting.put(numbered)
            waiting.put(None)
        except Exception as error:  # what reading raises, raised below
            waiting.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        batch = [waiting.get()]
        while len(batch) < batch_size and not waiting.empty():
            batch.append(waiting.get())
        numbered = list(itertools.takewhile(_is_line, batch))
        if numbered:
            yield numbered
        if len(numbered) < len(batch):
            if batch[len(numbered)] is None:
                return
            raise batch[len(numbered)]


def _is_line(item):
    return isinstance(item, tuple)


def write_answers(task, batches, write):
    """Answers lines, and tells about those that cannot be used.

    Args:
        task: json_lines.Task.
        batches: what `read_batches` yields.
        write: takes a list of dicts, the answers to one batch.

    Returns:
        (lines answered, lines that could not be used).

    Raises:
        ValueError: a line cannot be used, with --strict.
    """
    num_answers = num_errors = 0
    for batch in batches:
        answers, asked = [], []
        for number, line in batch:
            if not line.strip():
                continue
            try:
                asked.append((len(answers), task.parse(line)))
                answers.append(None)
            except ValueError as error:
                if FLAGS.strict:
                    raise ValueError(f"line {number}: {error}") from None
                logging.warning("line %d: %s", number, error)
                answers.append({"line": number, "error": str(error)})
                num_errors += 1
        if asked:
            found = task.answer([request for _, request in asked])
            for (index, _), answer in zip(asked, found, strict=True):
                answers[index] = answer
        num_answers += len(asked)
        write(answers)
    return num_answers, num_errors


def main(_):
    """Loads the model, then answers line after line."""
    # Flags are checked before the seconds that TensorFlow takes to load.
    from serving import json_lines

    # Not sys.stdin, which a thread that waits for it would not let close.
    reader = open(
        FLAGS.input_file or sys.stdin.fileno(),
        "rb",
        closefd=bool(FLAGS.input_file),
    )
    task = json_lines.load(
        FLAGS.model, FLAGS.task, top_k=FLAGS.top_k, tokens=FLAGS.tokens
    )
    logging.info("%s: ready to %s", FLAGS.model, task.name)
    batches = read_batches(reader, FLAGS.batch_size)

    def write_to(writer):
        def write(answers):
            writer.write(json_lines.to_json_lines(answers))
            writer.flush()

        return write_answers(task, batches, write)

    if FLAGS.output_file:
        with atomic_open(FLAGS.output_file) as writer:
            counts = write_to(writer)
    else:
        counts = write_to(sys.stdout.buffer)
    logging.info("%d lines answered, %d could not be", *counts)


if __name__ == "__main__":
    cli.run(main, define_flags, ("model",))
