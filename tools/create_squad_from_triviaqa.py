"""Makes a file in SQuAD's form from TriviaQA's released files.

    python create_squad_from_triviaqa.py --input_file=qa/wikipedia-train.json \
        --evidence_dir=evidence --output_file=triviaqa.json

The output is read by run_squad.py as --train_file. The paper trains on it
before SQuAD v1.1.
"""

import json
import os
from collections.abc import Iterable, Sequence

from absl import flags, logging

from data.squad import triviaqa
from files import paths
from files.atomic import atomic_open
from training import progress
from training.command_line import cli

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the flags."""
    cli.define_path(
        "input_file",
        paths.Kind.INPUT_FILE,
        "TriviaQA's questions, such as qa/wikipedia-train.json.",
    )
    cli.define_path(
        "evidence_dir",
        paths.Kind.DATA_FOLDER,
        "TriviaQA's folder of documents, which holds the folders wikipedia "
        "and web.",
    )
    cli.define_path(
        "output_file",
        paths.Kind.OUTPUT_FILE,
        "The SQuAD JSON to write; nothing is overwritten.",
    )
    flags.DEFINE_integer(
        "max_num_words",
        400,
        "Number of words to take from the beginning of a document.",
        lower_bound=1,
        upper_bound=1_000_000,
    )
    flags.DEFINE_bool(
        "for_training",
        True,
        "Skip documents without the answer, and give each question one "
        "answer, the first in the document. False keeps all documents, with "
        "all spellings of the answer, for evaluation.",
    )


def write_squad(
    questions: Iterable[list[triviaqa.Passage]], output_file: str
) -> tuple[int, int]:
    """Writes the passages as SQuAD's JSON, one entry a line.

    Returns:
        (number of passages written, number of passages read).
    """
    num_written = num_passages = 0
    with atomic_open(output_file) as file:
        file.write(b'{"version": "1.1", "data": [')
        for passages in questions:
            for passage in passages:
                num_passages += 1
                if FLAGS.for_training and not passage.has_answer:
                    continue
                file.write(b",\n" if num_written else b"\n")
                file.write(json.dumps(passage.entry).encode())
                num_written += 1
        file.write(b"\n]}\n")
        if not num_written:
            what = "holds an answer to" if num_passages else "belongs to"
            raise ValueError(
                f"no document in --evidence_dir={FLAGS.evidence_dir} {what} "
                f"the questions of {FLAGS.input_file}; give the folder that "
                "holds TriviaQA's folders wikipedia and web"
            )
    return num_written, num_passages


def main(_: Sequence[str]) -> None:
    """Reads the questions and writes those that can be used."""
    if os.path.exists(FLAGS.output_file):
        raise FileExistsError(
            f"--output_file={FLAGS.output_file} already exists; remove it or "
            "give another path"
        )
    questions = triviaqa.TriviaQA(
        FLAGS.input_file,
        FLAGS.evidence_dir,
        FLAGS.max_num_words,
        FLAGS.for_training,
    )
    tracked = progress.track(
        questions.passages(), len(questions), "question", "Reading"
    )
    num_written, num_passages = write_squad(tracked, FLAGS.output_file)
    if questions.num_missing:
        logging.warning(
            "Documents that are not in %s: %d",
            FLAGS.evidence_dir,
            questions.num_missing,
        )
    print(
        f"{num_written:,} of {num_passages:,} passages written to "
        f"{FLAGS.output_file}"
    )


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, define_flags, ("input_file", "evidence_dir", "output_file"))


if __name__ == "__main__":
    command()
