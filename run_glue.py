"""Fine-tunes and evaluates on all of GLUE, with several seeds.

    python run_glue.py --glue_dir=glue_data --seeds=1,2,3 --output_dir=out ...

Each task and seed is a run of run_classifier.py in a folder of its own; the
same command resumes after a stop, and other flags are refused. The table of
scores is written as glue.txt, glue.md and glue.json; it has all tasks that are
done with these flags and seeds, also those of commands with other --tasks.
"""

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from absl import flags, logging

from data.classification import glue, glue_suite
from files import json_files, paths
from files.atomic import remove_partial_files, write_json, write_text
from files.overlaps import WHOLE_FILES
from training.command_line import child, cli
from training.command_line import flags as common_flags

FLAGS = flags.FLAGS

# Fine-tuning flags that this script sets itself for each run.
SET_HERE = (
    "data_dir",
    "seed",
    "do_train",
    "do_eval",
    "do_predict",
    "num_train_runs",
    "export_dir",
    "export_version",
    "export_weights",
)


# What differs between the runs of a suite.
OF_A_RUN = {
    "task_name",
    "data_dir",
    "output_dir",
    "seed",
    "do_train",
    "do_eval",
}
# What changes nothing that is trained or evaluated.
FREE = {"output_dir", "debug", "nodebug", "verbose", "noverbose"}


def define_flags() -> None:
    """Defines the flags of the suite, and those passed to all its runs."""
    common_flags.define_all_fine_tuning_flags(learning_rate=5e-5)
    for name in SET_HERE:
        delattr(FLAGS, name)
    cli.define_path(
        "glue_dir",
        paths.Kind.DATA_FOLDER,
        "Folder with one subfolder for each task, named as in GLUE's "
        "downloads: CoLA, SST-2, MRPC, STS-B, QQP, MNLI, QNLI, RTE, WNLI.",
    )
    flags.DEFINE_list(
        "tasks", None, "Tasks to run; by default all that have a train.tsv."
    )
    flags.DEFINE_list("seeds", ["12345"], "Seeds for each task.")
    flags.DEFINE_bool(
        "glue_submission",
        False,
        "Predict the test sets with each task's best seed, and write "
        "submission.zip for GLUE's site.",
    )


def main(_: Sequence[str]) -> None:
    """Runs whatever is not done yet, then writes the table."""
    sets = ["train", "dev", *["test"] * FLAGS.glue_submission]
    tasks = glue_suite.find_tasks(FLAGS.glue_dir, FLAGS.tasks, sets)
    seeds = read_seeds(FLAGS.seeds)
    shared = shared_flags()
    runs = {
        (task, seed): [
            f"--task_name={task}",
            f"--data_dir={data_dir}",
            f"--output_dir={folder_of(task, seed)}",
            f"--seed={seed}",
            "--do_train",
            "--do_eval",
            *shared,
        ]
        for task, data_dir in tasks.items()
        for seed in seeds
    }
    # What does not belong together is found before anything is trained.
    for (task, seed), arguments in runs.items():
        check_run(record_of(task, seed), arguments)
    read_finished(seeds, shared)
    for (task, seed), arguments in runs.items():
        logging.info("***** %s, seed %d *****", task, seed)
        run_classifier(arguments, record_of(task, seed))
        if seed == seeds[-1]:
            results = read_finished(seeds, shared)
            write_tables(results)
    if FLAGS.glue_submission:
        submit(tasks, results, shared)
    print(glue_suite.table(glue_suite.summarize(results)), end="")


def read_seeds(texts: Sequence[str]) -> list[int]:
    """Returns the numbers of --seeds.

    Raises:
        ValueError: one is not a seed, or is given twice.
    """
    for text in texts:
        if not text.isdecimal() or int(text) >= 2**32:
            raise ValueError(
                f"--seeds: {text!r} is not a whole number below 2**32"
            )
    seeds = [int(text) for text in texts]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"--seeds={','.join(texts)}: give different seeds")
    return seeds


def shared_flags() -> list[str]:
    """Returns the arguments of all runs: the flags given that are theirs."""
    own = {"glue_dir", "tasks", "seeds", "glue_submission", "output_dir"}
    return [
        FLAGS[flag.name].serialize()
        for flag in FLAGS.get_key_flags_for_module(sys.argv[0])
        if flag.present and flag.name not in own
    ]


def folder_of(task: str, seed: int) -> str:
    """Returns the folder of one run."""
    return os.path.join(FLAGS.output_dir, task, f"seed_{seed}")


def record_of(task: str, seed: int) -> Path:
    """Returns the file with the arguments, and later results, of one run."""
    return Path(folder_of(task, seed)) / "glue.json"


def read_record(record: Path) -> dict[str, Any]:
    """Returns what is recorded of a run; {} if it was never started.

    Raises:
        ValueError: the file is not a record.
    """
    if not record.is_file():
        return {}
    found = json_files.read_json(record)
    if not isinstance(found, dict) or "arguments" not in found:
        raise ValueError(
            f"{record} is not a record of run_glue.py; give another "
            "--output_dir, or move the file away"
        )
    return found


def without(arguments: Iterable[str], names: Collection[str]) -> set[str]:
    """Returns arguments without the flags of these names."""
    return {
        argument
        for argument in arguments
        if argument.removeprefix("--").partition("=")[0] not in names
    }


def check_run(record: Path, arguments: Sequence[str]) -> None:
    """Refuses to go on with a run that other arguments have trained.

    Raises:
        ValueError: they did, or nothing says which arguments it was.
    """
    found, folder = read_record(record), record.parent
    if "results" not in found and not any(folder.glob("model.ckpt-*.index")):
        return
    if not found:
        raise ValueError(
            f"--output_dir: {folder} has checkpoints, but no {record.name} "
            "that says which flags trained them; give another --output_dir"
        )
    before = without(found["arguments"], FREE)
    now = without(arguments, FREE)
    if before != now:
        raise ValueError(
            f"--output_dir: {folder} was begun with other flags: "
            f"{_shown(before - now)}; this command has {_shown(now - before)}. "
            "Give the former, or another --output_dir"
        )


def _shown(arguments: set[str]) -> str:
    return " ".join(sorted(arguments)) or "none of these"


def read_finished(
    seeds: Sequence[int], shared: Sequence[str]
) -> dict[str, dict[int, dict[str, float]]]:
    """Returns {task: {seed: figures}} of the tasks whose runs are all done.

    Also of those that this command does not name, if its flags made them.
    """
    results: dict[str, dict[int, dict[str, float]]] = {}
    now = without(shared, FREE)
    for task in glue_suite.TASKS:
        by_seed = {}
        for seed in seeds:
            record = record_of(task, seed)
            found = read_record(record)
            arguments = without(found.get("arguments", ()), FREE | OF_A_RUN)
            if "results" in found and arguments == now:
                figures = found["results"]["eval_results.txt"]
                by_seed[seed] = make_finite(figures, str(record.parent))
        if len(by_seed) == len(seeds):
            results[task] = by_seed
    return results


def make_finite(
    figures: Mapping[str, float | None], folder: str
) -> dict[str, float]:
    """Returns a run's figures, with 0 for those that are not finite.

    A summary has None for them; the model has diverged.
    """
    for name, value in figures.items():
        if value is None:
            logging.warning("%s: %s is not finite; counted as 0", folder, name)
    return {name: value or 0.0 for name, value in figures.items()}


def run_classifier(arguments: Sequence[str], record: Path) -> None:
    """Runs run_classifier.py, unless it is recorded as done.

    Args:
        arguments: its flags.
        record: file in the run's folder for the arguments, before it starts,
            and its results.

    Raises:
        ValueError: it failed, after printing why.
        SystemExit: it was asked to stop.
    """
    found = read_record(record)
    before = without(found.get("arguments", ()), FREE)
    if "results" in found and before == without(arguments, FREE):
        logging.info("Already done: %s", record.parent)
        return
    record.parent.mkdir(parents=True, exist_ok=True)
    # What is trained from here on must not pass for a run with other flags.
    write_json(record, {"arguments": list(arguments)})
    script = Path(__file__).with_name("run_classifier.py")
    # It tells TensorFlow that weights never change, and the child trains.
    environment = dict(os.environ)
    environment.pop("TF_ONEDNN_ASSUME_FROZEN_WEIGHTS", None)
    status = child.run([sys.executable, script, *arguments], env=environment)
    if status:
        raise ValueError(
            f"run_classifier.py ended with status {status}, see above; rerun "
            "the same command to resume"
        )
    results = json_files.read_json(record.parent / "summary.json")["results"]
    write_json(record, {"arguments": list(arguments), "results": results})


def write_tables(results: glue_suite.Results) -> None:
    """Writes the table of the tasks so far as text, Markdown and JSON."""
    summary = glue_suite.summarize(results)
    folder = Path(FLAGS.output_dir)
    remove_partial_files(folder, WHOLE_FILES)
    write_json(folder / "glue.json", summary)
    write_text(folder / "glue.txt", glue_suite.table(summary))
    write_text(folder / "glue.md", glue_suite.table(summary, markdown=True))


def submit(
    tasks: dict[str, str], results: glue_suite.Results, shared: Sequence[str]
) -> None:
    """Predicts the test sets and writes submission.zip."""
    files = []
    for task, data_dir in tasks.items():
        best = folder_of(task, glue_suite.best_seed(task, results[task]))
        predict(task, data_dir, best, shared)
        names = [task, "mnli-mm"] if task == "mnli" else [task]
        files += [
            os.path.join(best, glue.submission_file(name)) for name in names
        ]
        diagnostics = glue_suite.find_diagnostics(FLAGS.glue_dir)
        if task == "mnli" and diagnostics:
            # In the run's folder, so that who deletes the run deletes it too.
            folder = os.path.join(best, "ax")
            start = f"--init_checkpoint={weights_of(best)}"
            predict("ax", diagnostics, folder, [*shared, start])
            files.append(os.path.join(folder, glue.submission_file("ax")))
    files = [file for file in files if os.path.isfile(file)]
    path = os.path.join(FLAGS.output_dir, "submission.zip")
    missing = glue_suite.write_zip(path, files)
    logging.info("Wrote %s", path)
    if missing:
        logging.warning("It lacks %s.", ", ".join(missing))


def predict(
    task: str,
    data_dir: str,
    folder: str,
    shared: Sequence[str],
) -> None:
    """Writes one task's submission file to a folder, unless it exists."""
    arguments = [
        *shared,
        f"--task_name={task}",
        f"--data_dir={data_dir}",
        f"--output_dir={folder}",
        "--do_predict",
        "--glue_submission",
    ]
    run_classifier(arguments, Path(folder) / "glue_submission.json")


def weights_of(folder: str) -> str:
    """Returns the folder of the weights that a run predicts with."""
    kept = ["averages"]
    if FLAGS.load_best:
        kept.insert(0, "best")
    for name in kept:
        if os.path.isdir(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return folder


def command() -> None:
    """Runs the script as a command."""
    cli.run(
        main,
        define_flags,
        ("glue_dir", "bert_config_file", "vocab_file", "output_dir"),
    )


if __name__ == "__main__":
    command()
