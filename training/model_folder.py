"""Reads the files that describe the weights in a folder.

These files are in a run's folder, in its best/ and averages/, in the folders
that --export_weights and tools.convert_checkpoint write, and in every export:

    model.json                         the head, and where the weights come from
    bert_config.json                   the network
    vocab.txt, tokenizer_config.json   how text is cut into WordPieces
    labels.txt                         names of the outputs, in order

Google's releases and Hugging Face's folders contain some of these files, or
similar files with other names. This module imports no TensorFlow.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import modeling
from data.text import casing
from files import flags, json_files
from files.flags import Role
from files.labels import PROBLEM_TYPES
from training.run_folder import AVERAGES, BEST, folder_of

if TYPE_CHECKING:
    from training.config import ModelConfig

FILE = "model.json"
VERSION = 1
# Earlier versions of this project wrote the settings of a run to this file.
FORMER_FILE = "run_settings.json"
# Options of the network for which bert_config.json contains no entry.
NETWORK = ("left_to_right", "bilstm")
# Classes without a head for a particular task. None is an unknown class.
_HEADLESS = {None, "BertEmbedder", "BertModel", "BertPretrainer"}


@dataclasses.dataclass(frozen=True)
class ModelFolder:
    """Description of the weights in a folder, from the folder's files.

    Attributes:
        path: path of the folder.
        config_file: path of the configuration, or None if it is missing.
        vocab_file: path of vocab.txt or tokenizer.json, or None if both are
            missing.
        do_lower_case: whether text is lower-cased, or None if unknown.
        description: path of model.json, or None if it is missing.
        task: description of the head: {"name": class of the model,
            "problem_type": kind of a classifier's outputs as transformers names
            it, FLAG: value of the flag}. In a Hugging Face folder,
            "architectures" replaces "name".
        settings: settings that must not change when the run that wrote the
            folder is resumed. {} in a release.
        changes: flags that changed when the run was resumed with
            --allow_changed_settings, one dict per resume.
    """

    path: str
    config_file: str | None = None
    vocab_file: str | None = None
    do_lower_case: bool | None = None
    description: str | None = None
    task: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    changes: Sequence[Mapping[str, Any]] = ()

    @property
    def network(self) -> dict[str, bool]:
        """{option in NETWORK: whether the weights were trained with it}."""
        return {name: self.settings.get(name, False) for name in NETWORK}

    @property
    def model_class(self) -> str | None:
        """Class name of the model, or None if it is unknown."""
        if "architectures" not in self.task:
            return self.task.get("name")
        file = os.path.join(self.path, "config.json")
        names = modeling.read_architectures(file)
        return modeling.ARCHITECTURES.get(names[0])

    def check_class(self, name: str | None) -> None:
        """Checks that the head was not trained for another task.

        A model without a head passes, although its answers would be random.

        Args:
            name: class of the model that loads the weights, or None if unknown.

        Raises:
            ValueError: the folder describes a head of another class.
        """
        found = self.model_class
        if found != name and not {found, name} & _HEADLESS:
            raise ValueError(
                f"{self.path} is a {found}, but this task needs a {name}; use "
                "the model for its own task, or as the --init_checkpoint of a "
                "training (--do_train) in another --output_dir"
            )


def read(path: str | os.PathLike[str]) -> ModelFolder:
    """Returns a description of the weights at a path.

    Args:
        path: a folder with weights, or a checkpoint in it.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is malformed, or a newer version of this project
            wrote the file.
    """
    folder = Path(path)
    if not folder.is_dir():
        folder = folder.parent
    # Earlier versions of this project wrote only weights to best/ and
    # averages/, so also read the files in the parent folder.
    places = [folder]
    if folder.name in (BEST, AVERAGES):
        places.append(folder.parent)
    # With --num_train_runs, the files in run_1 describe all runs.
    places.append(places[-1] / "run_1")

    def find(*names: str) -> str | None:
        files = (place / name for place in places for name in names)
        return next((str(file) for file in files if file.is_file()), None)

    file = find(FILE, FORMER_FILE)
    values = _read_file(file) if file else _read_huggingface(folder)
    known = values.get("settings", {}).get("tokenizer", {})
    casings = [
        *map(casing.read_do_lower_case, places),
        known.get("do_lower_case"),
    ]
    return ModelFolder(
        str(folder),
        find("bert_config.json", "config.json"),
        find("vocab.txt", "tokenizer.json"),
        next((found for found in casings if found is not None), None),
        find(FILE),
        **values,
    )


def _read_file(file: str) -> dict[str, Any]:
    values = json_files.read_json(file)
    if os.path.basename(file) == FORMER_FILE:
        mode = values.get("output_mode")
        name = {"name": "BertClassifier"} if mode else {}
        return {"task": _typed(name, mode), "settings": values}
    version = values.get("version")
    if version != VERSION:
        raise ValueError(
            f"{file} has the version {version!r}, but this program reads "
            f"version {VERSION}; use the program that wrote the file, or a "
            "newer one"
        )

    def part(inside: Mapping[str, Any], name: str, kind: type) -> Any:
        value = inside.get(name, kind())
        if not isinstance(value, kind):
            raise ValueError(
                f"{file}: `{name}` is {repr(value)[:80]}, which no run "
                "writes; restore the file from a backup"
            )
        return value

    origin, task = part(values, "origin", dict), part(values, "task", dict)
    settings = part(origin, "settings", dict)
    for setting in ("bert_config", "flags", "tokenizer"):
        part(settings, setting, dict)
    for option in NETWORK:
        part(settings, option, bool)
    if settings.get("tokenizer"):
        part(settings["tokenizer"], "do_lower_case", bool)
    for entry in ("name", "problem_type"):
        if task.get(entry) is not None:
            part(task, entry, str)
    if config := settings.get("bert_config"):
        try:
            modeling.BertConfig.from_dict(config)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error
    mode = task.get("output_mode")
    return {
        "task": _typed(task, mode if isinstance(mode, str) else None),
        "settings": settings,
        "changes": part(origin, "changes", list),
    }


def _typed(task: Mapping[str, Any], mode: str | None) -> dict[str, Any]:
    """Returns `task` with the `problem_type` that belongs to --output_mode."""
    found = PROBLEM_TYPES.get(mode or "")
    return {**({"problem_type": found} if found else {}), **task}


def _read_huggingface(folder: Path) -> dict[str, Any]:
    if not (folder / "config.json").is_file():
        return {}
    values = json_files.read_json(folder / "config.json")
    found = values.get("problem_type")
    if not found and len(values.get("id2label") or ()) == 1:
        # transformers treats a single output as a number. Cross-encoders are
        # saved without a problem_type.
        found = PROBLEM_TYPES["regression"]
    modes = {theirs: ours for ours, theirs in PROBLEM_TYPES.items()}
    task = {
        "architectures": values.get("architectures"),
        "problem_type": found,
        "output_mode": modes.get(found),
    }
    told = {name: value for name, value in task.items() if value}
    if task["architectures"] == ["BertForTokenClassification"]:
        # The tags may be in IOB1, whose sequences look illegal in IOB2.
        told["legal_tags"] = False
    return {"task": told}


def complete(config: "ModelConfig") -> None:
    """Sets missing flags to the values in the model's folder.

    Args:
        config: the flags. The network, the vocabulary and the casing are always
            read from the folder of `weights`. The settings of the head are
            read only if the command does not train.

    Raises:
        ValueError: a required flag is not set, and the folder does not contain
            a value for the flag.
    """
    told: dict[str, Any] = {}
    if config.weights:
        try:
            folder = read(config.weights)
        except ValueError:
            # A power cut may have emptied a file, so restore it from the
            # checkpoint. Import run_state late, because it loads TensorFlow.
            from training import run_state

            run_state.mend(folder_of(config.weights), is_own=False)
            folder = read(config.weights)
        trains = getattr(config, "do_train", False)
        # A resumed run continues with the head of its checkpoint.
        if not trains or getattr(config, "has_checkpoint", False):
            folder.check_class(config.head)
        if not trains:
            told |= {**folder.task, **folder.network}
        told["left_to_right"] = folder.network["left_to_right"]
        for name in ("config_file", "vocab_file", "do_lower_case"):
            told[name] = getattr(folder, name)
        told["bert_config_file"] = told.pop("config_file")
    roles = (Role.IDENTITY, Role.HEAD, Role.DECODING)
    changed = {
        field.name: told[field.name]
        for field in flags.fields(config, *roles)
        if told.get(field.name) is not None
        and field.name not in config.given_flags
        and getattr(config, field.name) == field.default
    }
    for name, value in changed.items():
        if not flags.accepts(type(config), name, value):
            raise ValueError(
                f"{config.weights}: its {FILE} has {name}={value!r}, which "
                f"--{name} does not accept; restore the file from a backup"
            )
        object.__setattr__(config, name, value)
    if hasattr(config, "all_flags"):
        every = {**config.all_flags, **changed}
        object.__setattr__(config, "all_flags", every)
    missing = [
        f"--{name}" for name in config.needed if getattr(config, name) is None
    ]
    # Another check reports an empty --init_checkpoint.
    if missing and getattr(config, "init_checkpoint", None) != "":
        path = config.weights
        if path:
            # Fail here if the path does not exist or has no weights, such as
            # the path of an export.
            modeling.find_checkpoint(path)
        where = f"{path} does not set" if path else "see"
        raise ValueError(
            f"missing required flags: {', '.join(missing)} ({where} "
            f"{'them' if path else '--help'})"
        )
