"""SQuAD: turns models' outputs into the original's files."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from absl import logging

from data.squad import ensembles
from data.squad.decoding import DecodingOptions, RawResult, decode_predictions
from data.squad.reading import SquadExample
from data.squad.windows import SquadFeatures
from data.text.tokenization import BasicTokenizer
from files import atomic, json_files


def find_answers(
    examples: Sequence[SquadExample],
    features: Sequence[SquadFeatures],
    batches: Iterable[tuple[Mapping[str, Any], Any]],
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> tuple[dict[str, str], dict[str, list[dict]], dict[str, float]]:
    """Answers questions from the outputs of a model or an ensemble.

    Args:
        examples: the questions.
        features: their windows, in order.
        batches: yields (features with `unique_ids`, outputs), in any order;
            outputs have `start_logits` and `end_logits`, or are a list of
            those of each model.
        options: DecodingOptions.
        tokenizer: BasicTokenizer that made the features.

    Returns:
        as `decode_predictions`.
    """
    results: list[list[RawResult]] = []
    for batch, outputs in batches:
        members = outputs if isinstance(outputs, list) else [outputs]
        results = results or [[] for _ in members]
        for member_results, member in zip(results, members, strict=True):
            member_results += map(
                RawResult,
                batch["unique_ids"].tolist(),
                member["start_logits"],
                member["end_logits"],
            )
    answers = [
        decode_predictions(
            examples, features, member_results, options, tokenizer
        )
        for member_results in results
    ]
    if len(answers) == 1:
        return answers[0]
    return ensembles.average_nbest([nbest for _, nbest, _ in answers], options)


def write_json_files(output_dir: str, outputs: Mapping[str, Any]) -> None:
    """Writes JSON files, {name: contents}, all or none of them.

    Raises:
        OSError: a file cannot be written.
        ValueError: a number is not finite.
    """
    texts = {}
    for name, content in outputs.items():
        path = os.path.join(output_dir, name)
        texts[path] = json_files.format_json(content, path, indent=4)
    for path, text in texts.items():
        atomic.write_text(path, f"{text}\n")
    logging.info("Wrote %s to %s", ", ".join(outputs), output_dir)
