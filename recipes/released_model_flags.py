"""The flags of released-model.py, and what their folders must hold."""

import argparse
import math
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import runs
import tasks

# Found because `runs` adds the project's folder to the path.
from data.classification import glue, glue_suite

# By flag: what its folder has, and the files that it must hold, with "or"
# between names of the same file.
MODEL = ("bert_config.json", "vocab.txt", "bert_model.ckpt.index")
FOLDERS = {
    "model": ("the released model", MODEL),
    "cased_model": ("the cased one, for named entities", MODEL),
    "squad": ("SQuAD", ("train-v1.1.json", "dev-v1.1.json")),
    "triviaqa": ("TriviaQA", ("qa/wikipedia-train.json", "evidence/wikipedia")),
    "swag": ("SWAG", ("train.csv or train.jsonl", "val.csv or val.jsonl")),
    "ner": ("CoNLL-2003", tasks.CONLL_FILES),
}
# Flags that each command has a value of its own for.
SET_HERE = (
    "bert_config_file",
    "vocab_file",
    "init_checkpoint",
    "output_dir",
    "task_name",
    "data_dir",
    "train_file",
    "predict_file",
    "ensemble",
)
# What GLUE's grid varies, and the flag of its values.
VARIED = {
    "train_batch_size": "batches",
    "learning_rate": "rates",
    "num_train_epochs": "epochs",
}
# {task: folder}; the paper leaves out WNLI.
GLUE_FOLDERS = {
    task: folder
    for task, (folder, _) in glue_suite.TASKS.items()
    if task != "wnli"
}


def check_folder(
    parser: ArgumentParser, flag: str, folder: Path, files: Sequence[str]
) -> None:
    """Refuses a folder that lacks a file.

    Args:
        parser: of the flag.
        flag: its name.
        folder: that of the flag, or one in it.
        files: what it must hold, as for `runs.find_missing`.
    """
    if missing := runs.find_missing(folder, files):
        parser.error(
            f"--{flag}: there is no {missing}; {folder} must hold "
            f"{', '.join(files)}"
        )


def check_files(parser: ArgumentParser, options: Namespace) -> None:
    """Refuses folders that lack a file which a command would need."""
    if options.output.is_file():
        parser.error(f"--output={options.output} is a file; give a folder")
    for flag, (_, files) in FOLDERS.items():
        if folder := getattr(options, flag):
            check_folder(parser, flag, folder, files)
    if options.squad and (options.squad / "train-v2.0.json").exists():
        check_folder(parser, "squad", options.squad, ["dev-v2.0.json"])
    if not options.glue:
        return
    found = {
        task: options.glue / name
        for task, name in GLUE_FOLDERS.items()
        if (options.glue / name).is_dir()
    }
    if not found:
        names = ", ".join(GLUE_FOLDERS.values())
        parser.error(
            f"--glue={options.glue} has none of GLUE's folders; give one that "
            f"holds some of {names}"
        )
    for task, folder in found.items():
        for processor in glue.create_processors(task).values():
            sets = [file for _, file in processor.set_files.values()]
            check_folder(parser, "glue", folder, sets)


def numbers(kind: type[int] | type[float]) -> Callable[[str], list[str]]:
    """Returns a parser of lists such as "5e-5,3e-5"; each stays as given."""
    name = "a whole number" if kind is int else "a number"

    def parse_list(text: str) -> list[str]:
        given = [each.strip() for each in text.split(",")]
        for each in given:
            try:
                valid = 0 < kind(each) < math.inf
            except ValueError:
                valid = False
            if not valid:
                raise argparse.ArgumentTypeError(
                    f"{each!r} in {text} is not {name} above 0"
                )
        if len(set(given)) < len(given):
            raise argparse.ArgumentTypeError(f"{text} gives one value twice")
        return given

    return parse_list


def create_parser(description: str | None) -> ArgumentParser:
    """Returns the parser of the recipe's own flags."""
    parser = ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    for flag, (name, files) in FOLDERS.items():
        add(
            f"--{flag}",
            required=flag == "model",
            type=runs.folder,
            help=f"folder of {name}:\n{', '.join(files)}",
        )
    add("--glue", type=runs.folder, help="folder of GLUE: MNLI, QQP, ...")
    add(
        "--output",
        required=True,
        type=runs.folder,
        help="folder for all that is made",
    )
    for flag, kind, name, default in (
        ("--batches", int, "batch sizes", "16,32"),
        ("--rates", float, "learning rates", "5e-5,3e-5,2e-5"),
        ("--epochs", float, "numbers of epochs", "3,4"),
    ):
        described = f"{name} tried on GLUE (default: {default})"
        add(flag, type=numbers(kind), default=default, help=described)
    add(
        "--ensemble",
        type=int,
        default=7,
        help="models of SQuAD v1.1, of seeds 1, 2, ... (default: 7)",
    )
    add(
        "--print",
        action="store_true",
        help="only print the commands, of all tasks of GLUE; its best setting\n"
        "is known only after running, so the first stands for it",
    )
    return parser


def parse(arguments: list[str], description: str | None) -> Namespace:
    """Returns the options, checked, and as `more` the flags after `--`."""
    parser = create_parser(description)
    own, more = arguments, []
    if "--" in arguments:
        place = arguments.index("--")
        own, more = arguments[:place], arguments[place + 1 :]
    options = parser.parse_args(own)
    options.more = {}
    for flag in more:
        if not flag.startswith("--"):
            parser.error(f"{flag} after --: give each flag as --NAME=VALUE")
        name, mark, value = flag[2:].partition("=")
        options.more[name] = value if mark else True
    for name in SET_HERE:
        if name in options.more:
            parser.error(f"--{name} after --: the recipe sets it")
    if options.squad and "seed" in options.more:
        parser.error("--seed after --: the models of SQuAD differ by it")
    for name, flag in VARIED.items():
        if options.glue and name in options.more:
            parser.error(
                f"--{name} after --: GLUE's grid varies it; give --{flag}, or "
                "run the other parts by a command without --glue"
            )
    if options.ner and not options.cased_model:
        parser.error("--ner needs --cased_model")
    if options.triviaqa and not options.squad:
        parser.error("--triviaqa needs --squad")
    if options.ensemble < 2:
        parser.error("--ensemble is 2 or more")
    if not (options.glue or options.squad or options.swag or options.ner):
        parser.error("nothing to run: give --glue, --squad, --swag or --ner")
    if not options.print:
        check_files(parser, options)
    return options
