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
    Evaluation,
    Scores,
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

    def write_dev_scores(self, evaluation: Evaluation) -> None:
        """Logs the scores on the dev sets, and writes eval_results.txt."""
        log_scores(evaluation)
        self._write(DEV_RESULTS, evaluation.to_entries())

    def write_test_scores(
        self, evaluation: Evaluation, suffix: str = ""
    ) -> None:
        """Logs the scores on a test set, and writes its file.

        Args:
            evaluation: scores of the predictions.
            suffix: suffix of the set's name, such as "_mm".
        """
        log_scores(evaluation)
        self._write(f"test_eval_results{suffix}.txt", evaluation.to_entries())

    def write_export_scores(
        self, scores_of_format: Mapping[str, Scores]
    ) -> None:
        """Writes the scores of the exported files on the dev set.

        In the file, the name of a score begins with its format. Does not log
        the scores, because the table would only repeat the model's.

        Args:
            scores_of_format: {format: its scores}.
        """
        entries = {
            f"{format_name}_{name}": score
            for format_name, scores in scores_of_format.items()
            for name, score in scores.to_entries().items()
        }
        self._write(EXPORT_RESULTS, entries)

    def _write(self, name: str, entries: Mapping[str, float]) -> None:
        """Writes `key = value` lines like Google's code, sorted by key."""
        if self._is_chief:
            lines = [f"{key} = {entries[key]}\n" for key in sorted(entries)]
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


def log_scores(evaluation: Evaluation) -> None:
    """Logs a table of the scores and the step, sorted by name."""
    logging.info("***** Eval results *****\n%s", _format_table(evaluation))


def _format_table(evaluation: Evaluation) -> str:
    """Returns a text table of scores, followed by one row for each label."""
    overall = {**evaluation.scores.overall, "global_step": evaluation.step}
    # The lines of the file are in this order, too.
    by_label = sorted(
        evaluation.scores.by_label, key=lambda label: min(label.to_entries())
    )
    titles = [label.title for label in by_label]
    width = max(map(len, [*overall, *titles, "label"]))
    lines = [
        f"  {name:<{width}}  {_align_right(overall[name])}"
        for name in sorted(overall)
    ]
    if by_label:
        lines.append(
            "  ".join(
                [f"  {'label':<{width}}", *map(_align_right, LABEL_SCORES)]
            )
        )
    for label in by_label:
        rates = (label.precision, label.recall, label.f1)
        cells = [f"{rate:>9.4f}" for rate in rates]
        cells.append(f"{label.support:>9.0f}")
        lines.append("  ".join([f"  {label.title:<{width}}", *cells]))
    return "\n".join(lines)


def _align_right(cell: str | float) -> str:
    return f"{cell:>9.4f}" if isinstance(cell, float) else f"{cell:>9}"
