"""Reads and formats the scores of a run. Imports no TensorFlow."""

import re
from collections.abc import Mapping
from pathlib import Path

RATES = ("precision", "recall", "f1", "support")
# Matches the name of a label's score, with or without a split's suffix.
_OF_LABEL = re.compile(rf"(.+)_({'|'.join(RATES)})((?:_\w+)?)")
# Prefixes of the scores of an export, such as saved_model_f1.
_FORMATS = ("saved_model", "litert", "onnx")


def read_results(path: Path) -> dict[str, float]:
    """Reads the `key = value` lines of a results file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.rpartition(" = ") for line in lines)
    return {name: float(value) for name, _, value in pairs}


def split_by_label(
    results: Mapping[str, float],
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Returns the overall scores, and {label: scores of the label}.

    Args:
        results: {name: score}. LABEL_precision, LABEL_recall, LABEL_f1
            and LABEL_support are the scores of one label.
    """
    matches = {name: _OF_LABEL.fullmatch(name) for name in results}
    by_label: dict[str, dict[str, float]] = {}
    for name, match in matches.items():
        if match and match[1] not in _FORMATS:
            label = by_label.setdefault(match[1] + match[3], {})
            label[match[2]] = results[name]
    # Only a label's scores include all rates. SQuAD's HasAns_f1, for
    # example, is not the score of a label.
    by_label = {k: v for k, v in by_label.items() if len(v) == len(RATES)}
    overall = {
        name: results[name]
        for name, match in matches.items()
        if not (match and match[1] + match[3] in by_label)
    }
    return overall, by_label


def format_results(results: Mapping[str, float]) -> str:
    """Returns a text table of scores, followed by one row for each label."""
    overall, by_label = split_by_label(results)
    width = max(map(len, [*overall, *by_label, "label"]))
    lines = [
        f"  {name:<{width}}  {_right(value)}" for name, value in overall.items()
    ]
    if by_label:
        lines.append("  ".join([f"  {'label':<{width}}", *map(_right, RATES)]))
    for label, scores in by_label.items():
        cells = [_right(_shown(name, scores[name])) for name in RATES]
        lines.append("  ".join([f"  {label:<{width}}", *cells]))
    return "\n".join(lines)


def format_markdown(results: Mapping[str, float]) -> list[str]:
    """Returns the lines of Markdown tables of scores, and of each label."""
    overall, by_label = split_by_label(results)
    lines = ["| score | value |", "|---|---|"]
    lines += [f"| {name} | {overall[name]:.4g} |" for name in overall]
    if by_label:
        lines += ["", f"| label | {' | '.join(RATES)} |"]
        lines.append("|---" * (len(RATES) + 1) + "|")
    for label, scores in by_label.items():
        cells = [f"{scores[name]:.4g}" for name in RATES]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines


# The support is a count, which eval_results.txt may return as a float.
def _shown(name: str, value: float) -> float:
    return int(value) if name == "support" else value


def _right(cell: str | float) -> str:
    return f"{cell:>9.4f}" if isinstance(cell, float) else f"{cell:>9}"
