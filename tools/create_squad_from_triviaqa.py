r"""Makes a file in SQuAD's form from TriviaQA's released files.

    python -m tools.create_squad_from_triviaqa \
        --input_file=qa/wikipedia-train.json --evidence_dir=evidence \
        --output_file=triviaqa.json

The output is read by run_squad.py as --train_file. The paper trains on it
before SQuAD v1.1.
"""

import dataclasses
import json
import os
from collections.abc import Iterable

from absl import logging

from data.squad import triviaqa
from files import progress
from files.atomic import atomic_open
from files.flags import flag
from files.paths import Kind
from training.command_line import cli


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """The questions to read, and the file to write."""

    input_file: str = flag(
        ...,
        "TriviaQA's questions, such as qa/wikipedia-train.json.",
        kind=Kind.INPUT_FILE,
    )
    evidence_dir: str = flag(
        ...,
        "TriviaQA's folder of documents, which holds the folders wikipedia "
        "and web.",
        kind=Kind.DATA_FOLDER,
    )
    output_file: str = flag(
        ...,
        "The SQuAD JSON to write; nothing is overwritten.",
        kind=Kind.OUTPUT_FILE,
    )
    max_num_words: int = flag(
        400,
        "Number of words to take from the beginning of a document.",
        at_least=1,
        at_most=1_000_000,
    )
    for_training: bool = flag(
        True,
        "Skip documents without the answer, and give each question one "
        "answer, the first in the document. False keeps all documents, with "
        "all spellings of the answer, for evaluation.",
    )


def write_squad(
    questions: Iterable[list[triviaqa.Passage]], config: Config
) -> tuple[int, int]:
    """Writes the passages as SQuAD's JSON, one entry a line.

    Returns:
        (number of passages written, number of passages read).
    """
    num_written = num_passages = 0
    with atomic_open(config.output_file) as file:
        file.write(b'{"version": "1.1", "data": [')
        for passages in questions:
            for passage in passages:
                num_passages += 1
                if config.for_training and not passage.has_answer:
                    continue
                file.write(b",\n" if num_written else b"\n")
                file.write(json.dumps(passage.entry).encode())
                num_written += 1
        file.write(b"\n]}\n")
        if not num_written:
            what = "holds an answer to" if num_passages else "belongs to"
            raise ValueError(
                f"no document in --evidence_dir={config.evidence_dir} {what} "
                f"the questions of {config.input_file}; give the folder that "
                "holds TriviaQA's folders wikipedia and web"
            )
    return num_written, num_passages


def main(config: Config) -> None:
    """Reads the questions and writes those that can be used."""
    if os.path.exists(config.output_file):
        raise FileExistsError(
            f"--output_file={config.output_file} already exists; remove it or "
            "give another path"
        )
    questions = triviaqa.TriviaQA(
        config.input_file,
        config.evidence_dir,
        config.max_num_words,
        config.for_training,
    )
    tracked = progress.track(
        questions.passages(), len(questions), "question", "Reading"
    )
    num_written, num_passages = write_squad(tracked, config)
    if questions.num_missing:
        logging.warning(
            "Documents that are not in %s: %d",
            config.evidence_dir,
            questions.num_missing,
        )
    print(
        f"{num_written:,} of {num_passages:,} passages written to "
        f"{config.output_file}"
    )


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, Config)


if __name__ == "__main__":
    command()
