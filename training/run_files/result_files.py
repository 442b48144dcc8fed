"""Writes and logs the scores of a run, and finds its files of results.

The task writes the files of predictions and reports.
"""

from collections.abc import Mapping
from pathlib import Path

from absl import logging

from files.atomic import write_text
from model_folders.scores import (
    DEV_RESULTS,
    EXPORT_RESULTS,
    LABEL_SCORES,
    split_by_label,
)

# Patterns of the files that contain results of a run's weights.
_RESULT_FILES = (
    "*eval_results*.txt",
    "*predictions.*",
    "null_odds.json",
    "report*.html",
    "test_results*.tsv",
)
# Files that a command names at its end, if the run wrote them.
_SHOWN_FILES = (
    "report.html",
    "dev_predictions.csv",
    "dev_predictions.jsonl",
    "predictions.csv",
    "predictions.jsonl",
)


class ResultFiles:
    """The files in a run's folder that contain results of its weights.

    Args:
        folder: path of the run's folder.
        is_chief: whether this process writes files.
    """

    def __init__(self, folder: Path, *, is_chief: bool) -> None:
        self._folder = folder
        self._is_chief = is_chief

    def write_dev_scores(self, scores: Mapping[str, float]) -> None:
        """Logs the scores on the dev sets, and writes eval_results.txt."""
        log_scores(scores)
        self._write(DEV_RESULTS, scores)

    def write_test_scores(
        self, scores: Mapping[str, float], suffix: str = ""
    ) -> None:
        """Logs the scores on a test set, and writes its file.

        Args:
            scores: scores of the predictions.
            suffix: suffix of the set's name, such as "_mm".
        """
        log_scores(scores)
        self._write(f"test_eval_results{suffix}.txt", scores)

    def write_export_scores(
        self, scores_of_format: Mapping[str, Mapping[str, float]]
    ) -> None:
        """Writes the scores of the exported files on the dev set.

        In the file, the name of a score begins with its format. Does not log
        the scores, because the table would only repeat the model's.

        Args:
            scores_of_format: {format: {name: score}}.
        """
        scores = {
            f"{format_name}_{name}": score
            for format_name, format_scores in scores_of_format.items()
            for name, score in format_scores.items()
        }
        self._write(EXPORT_RESULTS, scores)

    def _write(self, name: str, scores: Mapping[str, float]) -> None:
        """Writes `key = value` lines like Google's code, sorted by key."""
        if self._is_chief:
            lines = [f"{key} = {scores[key]}\n" for key in sorted(scores)]
            write_text(self._folder / name, "".join(lines))

    def warn_of_earlier_files(self, begin_time: float) -> None:
        """Logs a warning that names the results of earlier weights.

        Their files stay, because the user may need them.

        Args:
            begin_time: time at which this command began, as time.time().
        """
        paths = sorted(
            str(path)
            for pattern in _RESULT_FILES
            for path in self._folder.glob(pattern)
            if path.stat().st_mtime < begin_time
        )
        if paths:
            logging.warning(
                "An earlier command wrote %s, with other weights than this "
                "command trained. Move or remove what you no longer need.",
                ", ".join(paths),
            )

    def list_shown_files(self) -> list[str]:
        """Returns the paths of the reports and predictions in the folder."""
        paths = [self._folder / name for name in _SHOWN_FILES]
        return [str(path) for path in paths if path.is_file()]


def log_scores(scores: Mapping[str, float]) -> None:
    """Logs a table of scores, sorted by name."""
    table = _format_table({key: scores[key] for key in sorted(scores)})
    logging.info("***** Eval results *****\n%s", table)


def _format_table(scores: Mapping[str, float]) -> str:
    """Returns a text table of scores, followed by one row for each label."""
    overall, by_label = split_by_label(scores)
    width = max(map(len, [*overall, *by_label, "label"]))
    lines = [
        f"  {name:<{width}}  {_align_right(value)}"
        for name, value in overall.items()
    ]
    if by_label:
        lines.append(
            "  ".join(
                [f"  {'label':<{width}}", *map(_align_right, LABEL_SCORES)]
            )
        )
    for label, scores_of_label in by_label.items():
        cells = [f"{scores_of_label[name]:>9.4f}" for name in LABEL_SCORES[:-1]]
        cells.append(f"{scores_of_label['support']:>9.0f}")
        lines.append("  ".join([f"  {label:<{width}}", *cells]))
    return "\n".join(lines)


def _align_right(cell: str | float) -> str:
    return f"{cell:>9.4f}" if isinstance(cell, float) else f"{cell:>9}"
