r"""Searches hyper-parameters for a task of your own, with Optuna.

    python -m tools.search --data_dir=reviews --study=output/reviews.db \
        --space="learning_rate=1e-5:1e-4:log,train_batch_size=16|32" \
        --vocab_file=$B/vocab.txt --bert_config_file=$B/bert_config.json \
        --init_checkpoint=$B/bert_model.ckpt --max_seq_length=128

Reads the train set like run_classifier.py --task_name=csv, and splits it into
folds.
In each trial, Optuna chooses settings, and the tool trains one classifier per
fold with these settings. Optuna optimizes the mean result of the folds. Flags
that this tool does not define are passed to run_classifier.py. To resume a
search, run the same command again. Several processes may run the same command
at the same time, so that each of them runs some of the trials. Install optuna
first (requirements/search.txt).
"""

import dataclasses
import functools
import json
import math
import statistics
import subprocess
import sys
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absl import logging

from data.classification import table_task
from files import json_files, requirements
from files.atomic import write_text
from files.flags import flag
from files.paths import Kind
from training.command_line import cli

if TYPE_CHECKING:
    import optuna

SCRIPT = Path(__file__).resolve().parents[1] / "run_classifier.py"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(table_task.TableOptions):
    """Flags of the tool: the train set, the flags to vary, Optuna's study."""

    data_dir: str = flag(
        ...,
        "Folder with the train set: train.csv, .tsv, .jsonl or .parquet.",
        kind=Kind.DATA_FOLDER,
    )
    study: str = flag(
        ...,
        "Path of the SQLite database that records the trials, created if "
        "missing. For NAME.db, the tool writes the runs to the folder "
        "NAME_runs beside it.",
        kind=Kind.OUTPUT_FILE,
    )
    space: Sequence[str] = flag(
        ...,
        "Flags of run_classifier.py to vary, comma-separated: NAME=LOW:HIGH "
        "for numbers, NAME=LOW:HIGH:log for numbers on a logarithmic scale, "
        "NAME=A|B|C for choices. If LOW and HIGH are integers, all values are "
        "integers.",
    )
    trials: int = flag(20, "Total number of trials to run.", at_least=1)
    folds: int = flag(
        5, "Number of folds. A trial trains once for each fold.", at_least=2
    )
    seed: int = flag(12345, "Seed of the folds and the runs.", at_least=0)
    metric: str | None = flag(
        None,
        "Name of the result to maximize, or to minimize if it is a loss. The "
        "default is the main metric of the task.",
    )

    @property
    def is_loss(self) -> bool:
        """Whether the metric is a loss, so that smaller values are better."""
        return "loss" in str(self.metric)


def shown(value: Any) -> str:
    """Formats a flag's value, for run_classifier.py and for the printed trials.

    Numbers that are not integers are rounded to four significant digits.
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def suggest(trial: "optuna.Trial", entry: str) -> str:
    """Chooses a trial's value for an entry of --space.

    Returns the flag with its value, "--NAME=VALUE".

    Raises:
        ValueError: the entry is malformed.
    """
    name, _, values = entry.partition("=")
    value: Any
    try:
        if "|" in values:
            value = trial.suggest_categorical(name, values.split("|"))
        else:
            low, high, *scale = values.split(":")
            if scale not in ([], ["log"]):
                raise ValueError(
                    f"the scale must be log, not {':'.join(scale)}"
                )
            is_whole = low.isdecimal() and high.isdecimal()
            draw = trial.suggest_int if is_whole else trial.suggest_float
            number = int if is_whole else float
            value = draw(name, number(low), number(high), log=bool(scale))
    except ValueError as error:
        raise ValueError(
            f"--space: {entry} must have the form NAME=LOW:HIGH, "
            f"NAME=LOW:HIGH:log or NAME=A|B ({error})"
        ) from None
    return f"--{name}={shown(value)}"


def write_folds(
    config: Config, folder: Path, lines: Sequence[str], labels: Any
) -> None:
    """Writes the train and dev sets of all folds as JSON lines.

    Args:
        config: flags of the tool.
        folder: folder in which the folders fold_1, fold_2, ... are written.
        lines: the examples, each a line of JSON.
        labels: label of each example, so that each label is about equally
            frequent in all folds. None = split at random.
    """
    from sklearn import model_selection

    kind = model_selection.StratifiedKFold
    if labels is None:
        kind = model_selection.KFold
    splitter = kind(config.folds, shuffle=True, random_state=config.seed)
    try:
        folds = [*splitter.split(lines, labels)]
    except ValueError as error:
        raise ValueError(f"--folds={config.folds}: {error}") from None
    for number, parts in enumerate(folds, start=1):
        for name, rows in zip(("train", "dev"), parts, strict=True):
            text = "".join(f"{lines[row]}\n" for row in rows)
            write_text(folder / f"fold_{number}/{name}.jsonl", text)


def run_fold(config: Config, folder: Path, arguments: Sequence[str]) -> float:
    """Trains and evaluates a classifier, and returns the value of --metric.

    Writes the run's files to `folder`, and the log to `folder`.log beside it.
    `arguments` are the other flags of run_classifier.py.

    Raises:
        ValueError: the run failed, or its results do not include the metric.
    """
    command = [sys.executable, str(SCRIPT), *arguments, "--do_train"]
    command += ["--do_eval", f"--output_dir={folder}", "--task_name=csv"]
    log = folder.with_name(f"{folder.name}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as writer:
        done = subprocess.run(command, stdout=writer, stderr=writer)
    if done.returncode:
        last = log.read_text("utf-8", errors="replace").splitlines()[-1:]
        raise ValueError(
            f"the training in {folder} failed, see {log}: {''.join(last)}"
        )
    summary = json_files.read_json(folder / "summary.json")
    figures = summary["results"]["eval_results.txt"]
    if config.metric not in figures:
        raise ValueError(
            f"--metric={config.metric} must be one of {', '.join(figures)}"
        )
    # summary.json contains null if the result was NaN. Optuna needs a number,
    # so return the worst possible value.
    worst = math.inf if config.is_loss else 0.0
    value = figures[config.metric]
    return worst if value is None else value


def create_study(config: Config, settings: Any) -> "optuna.Study":
    """Opens or creates the database of --study.

    `settings` describes the flags and the data. The database records this
    value, and all commands that use the study must pass an equal value.

    Raises:
        ValueError: an earlier command created the study with other settings.
    """
    import optuna

    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    Path(config.study).parent.mkdir(parents=True, exist_ok=True)
    # Find errors in --space before the database is created.
    for entry in config.space:
        suggest(optuna.create_study().ask(), entry)
    study = optuna.create_study(
        # If the process that runs a trial is killed, let another process run
        # the trial again.
        storage=optuna.storages.RDBStorage(
            f"sqlite:///{config.study}",
            heartbeat_interval=60,
            heartbeat_stale_trial_callback=(
                optuna.storages.RetryHeartbeatStaleTrialCallback()
            ),
        ),
        study_name=Path(config.study).stem,
        load_if_exists=True,
        direction="minimize" if config.is_loss else "maximize",
    )
    before = study.user_attrs.get("settings", settings)
    if before != settings:
        raise ValueError(
            f"--study={config.study} was begun with other flags or data: "
            f"{before}; choose another --study"
        )
    study.set_user_attr("settings", settings)
    return study


def main(config: Config, rest: Sequence[str]) -> None:
    """Runs trials until --trials trials are finished, and prints all of them.

    `rest` are the flags to pass to run_classifier.py.
    """
    try:
        import optuna
    except ImportError:
        raise ValueError(
            "tools.search needs optuna: "
            f"{requirements.install('requirements/search.txt')}"
        ) from None
    processor = table_task.TableProcessor(config.data_dir, config)
    metric = config.metric or processor.metrics[0]
    config = dataclasses.replace(config, metric=metric)
    names = processor.get_labels()
    examples = processor.read_set(config.data_dir, "train")
    lines = [
        json.dumps({"text": e.text_a, "text_b": e.text_b, "label": e.label})
        for e in examples
    ]
    shared = [*rest, f"--seed={config.seed}", "--keep_checkpoint_max=1"]
    shared += [f"--output_mode={config.output_mode}"]
    shared += ["--text_b_column=text_b"] * bool(config.text_b_column)
    if names:
        # Pass the names of all labels, because a fold may lack a rare label.
        # Quote them as in CSV, because a name may contain a comma.
        cells = ['"' + name.replace('"', '""') + '"' for name in names]
        shared.append(f"--labels={','.join(cells)}")
    checksum = zlib.crc32("\n".join(lines).encode())
    study = create_study(
        config, [*shared, *config.space, config.folds, config.metric, checksum]
    )
    path = Path(config.study)
    folder = path.with_name(f"{path.stem}_runs")
    is_single = config.output_mode == "classification"
    labels = [e.label for e in examples] if is_single else None
    write_folds(config, folder, lines, labels)

    def objective(trial: optuna.Trial) -> float:
        flags_of_trial = [suggest(trial, entry) for entry in config.space]
        # If this trial repeats the trial of a killed process, use the folder of
        # that trial, so that its finished folds are not trained again.
        frozen = study.get_trials(deepcopy=False)[trial.number]
        retried = frozen.system_attrs.get("failed_trial", trial.number)
        found: list[float] = []
        for fold in range(1, config.folds + 1):
            data = f"--data_dir={folder / f'fold_{fold}'}"
            run = folder / f"trial_{retried}" / f"run_{fold}"
            found.append(
                run_fold(config, run, [*shared, *flags_of_trial, data])
            )
        trial.set_user_attr("folds", found)
        return statistics.fmean(found)

    done = [optuna.trial.TrialState.COMPLETE]
    missing = config.trials - len(study.get_trials(states=done))
    logging.info("%d trials to run in %s", max(missing, 0), folder)
    if missing > 0:
        enough = optuna.study.MaxTrialsCallback(config.trials, states=done)
        study.optimize(objective, callbacks=[enough])
    print(f"{'trial':>5}  {metric:<15}  flags")
    order = 1 if config.is_loss else -1
    for trial in sorted(
        study.get_trials(states=done), key=lambda trial: order * trial.value
    ):
        deviation = statistics.stdev(trial.user_attrs["folds"])
        value = f"{trial.value:.4f} ± {deviation:.4f}"
        given = (f"--{name}={shown(v)}" for name, v in trial.params.items())
        print(f"{trial.number:>5}  {value:<15}  {' '.join(given)}")


command = functools.partial(cli.run, main, Config, passes_rest=True)

if __name__ == "__main__":
    command()
