"""Reads finished runs from their summary.json. Imports no TensorFlow."""

import json
import math
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from absl import logging

from files import json_files
from files.flags import Role, fields
from training.config import FineTuningConfig

# Matches the part of a folder's name that depends on the seed, such as run_1.
SEED = re.compile(r"\b(run|seed)_\d+\b")
# Flags whose values do not change a run's scores, except by chance (the seed).
_FREE = re.compile(
    r"seed|num_train_runs|output_dir|export_\w+|do_(train|eval|predict)|report"
    r"|glue_submission|verbose|debug|allow_changed_settings"
    r"|save_checkpoints_steps|keep_checkpoint_max|max_export_loss"
)


class Run(NamedTuple):
    """The settings and the scores of one finished run.

    `figures` is {name: score}. Scores are percentages, except losses.
    `data` contains the checksums of the "dev_set" and "test_set", if known.
    """

    folder: Path
    settings: Mapping[str, Any]
    figures: Mapping[str, float]
    data: Mapping[str, str]


def read_runs(folder: Path) -> Iterator[Run]:
    """Yields the finished runs in a folder, and logs the unfinished runs.

    Raises:
        ValueError: a summary is damaged.
        OSError: the folder contains no finished run.
    """
    found = {path.parent for path in folder.rglob("summary.json")}
    started = {path.parent for path in folder.rglob("history.jsonl")}
    if unfinished := sorted(map(str, started - found)):
        logging.warning("Skipped unfinished runs: %s", ", ".join(unfinished))
    if not found:
        raise FileNotFoundError(
            f"--runs: {folder} contains no summary.json, which a run writes "
            "at its end; pass the --output_dir of a run, or a folder that "
            "contains runs"
        )
    # With --num_train_runs, skip the folder that contains run_1, run_2 ...,
    # because its summary repeats the best of these runs.
    several = {path.parent for path in found if path.name.startswith("run_")}
    for path in sorted(found - several):
        summary = json_files.read_json(path / "summary.json")
        try:
            run = create_run(path, summary)
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise ValueError(
                f"{path}/summary.json is not the summary of a run ({error!r}); "
                "move the file to another folder"
            ) from None
        if run.figures:
            yield run


def create_run(folder: Path, summary: Mapping[str, Any]) -> Run:
    """Creates a Run from the contents of its summary.json.

    The run's `figures` are empty if the summary contains no scores.
    """
    script = os.path.basename(summary["command"][0])
    flags = summary["all_flags"]
    if trained := summary.get("trained_with"):
        # A later command without --do_train may omit the training's flags. So
        # use the flags of the command that trained, and replace only the flags
        # that the later command set.
        given = {} if flags.get("do_train") else summary["flags"]
        flags = {**trained["flags"], **given}
    settings = {
        name: SEED.sub(r"\1_N", value) if isinstance(value, str) else value
        for name, value in flags.items()
        if not _FREE.fullmatch(name)
    }
    settings["bert_config"] = summary["settings"].get("bert_config")
    figures, results = {}, summary["results"]
    found = results.get("eval_results.txt", {})
    for name, value in {
        **found,
        **results.get("export_eval_results.txt", {}),
    }.items():
        # SQuAD's scores are percentages already.
        scale = 1 if "loss" in name or "squad" in script else 100
        figures[name] = math.nan if value is None else scale * float(value)
    data = {"dev_set": summary.get("fingerprint", {}).get("dev_set")}
    data["test_set"] = (summary.get("predictions") or {}).get("test_set")
    data = {name: checksum for name, checksum in data.items() if checksum}
    return Run(folder, {"script": script, **settings}, figures, data)


def of_one_dev_set(runs: Sequence[Run]) -> list[Run]:
    """Drops runs whose dev set differs from the dev set of similar runs.

    Runs are similar if they differ only in training flags. From each group of
    similar runs, the function keeps the runs with the most frequent dev set or,
    if there is a tie, with the dev set that was used last. A warning names the
    dropped runs.
    """
    trained = {
        field.name
        for field in fields(FineTuningConfig, Role.TRAINING, Role.NEUTRAL)
    }
    groups: dict[str, dict[str, list[Run]]] = {}
    for run in runs:
        if dev_set := run.data.get("dev_set"):
            known = {n: run.settings[n] for n in run.settings.keys() - trained}
            key = json.dumps(known, sort_keys=True)
            groups.setdefault(key, {}).setdefault(dev_set, []).append(run)

    def rank(group: Sequence[Run]) -> tuple[int, float]:
        files = [run.folder / "summary.json" for run in group]
        return len(group), max(file.stat().st_mtime for file in files)

    left = []
    for by_dev_set in groups.values():
        *others, taken = sorted(by_dev_set.values(), key=rank)
        left += [run.folder for group in others for run in group]
        if others:
            logging.warning(
                "Skipped runs that were evaluated on a different dev set from "
                "the run in %s: %s",
                taken[0].folder,
                ", ".join(str(run.folder) for group in others for run in group),
            )
    return [run for run in runs if run.folder not in left]


def check_predictions(file: Path, runs: Sequence[Run]) -> None:
    """Checks that predictions come from the same data as some other runs.

    Args:
        file: file of predictions in a run's folder.
        runs: the runs to compare with, such as the runs in a results table.

    Raises:
        ValueError: the weights in the folder did not produce the predictions,
            or a run with the same settings used another dev or test set.
    """
    path = file.parent / "summary.json"
    summary = json_files.read_json(path) if path.is_file() else {}
    # Earlier versions of this project wrote no fingerprints to compare.
    if "fingerprint" not in summary:
        return
    known = (summary.get("predictions") or {}).get("files", ())
    found = [file.name, file.stat().st_size, zlib.crc32(file.read_bytes())]
    if found not in known:
        raise ValueError(
            f"{file} was not written with the weights now in its folder; "
            "predict again with --do_predict --glue_submission"
        )
    own = create_run(file.parent, summary)
    for run in runs:
        for name in own.data.keys() & run.data.keys():
            is_same = own.data[name] == run.data[name]
            if own.settings == run.settings and not is_same:
                raise ValueError(
                    f"{file} comes from a run whose {name} differs from the "
                    f"{name} of {run.folder}; repeat both runs on the same data"
                )
