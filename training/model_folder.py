"""Reads and writes the files that describe the weights in a folder.

These files are in a run's folder, in its best/ and averages/, in the folders
that --export_weights and tools.convert_checkpoint write, and in every export:

    model.json                         the head, and where the weights come from
    bert_config.json                   the network
    vocab.txt, tokenizer_config.json   how text is cut into WordPieces
    labels.txt                         names of the outputs, in order

Google's releases and Hugging Face's folders contain some of these files, or
similar files with other names. The files that this module writes do not reveal
paths, machines or the contents of other files. It imports no TensorFlow.
"""

import dataclasses
import os
import platform
import re
import sys
import urllib.parse
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import modeling
from data.text import casing
from data.text.tokenization import FullTokenizer
from files import flags, json_files, manifests
from files.atomic import write_bytes, write_json
from files.flags import Role
from files.labels import PROBLEM_TYPES
from training.run_folder import AVERAGES, BEST, checkpoint_steps

if TYPE_CHECKING:
    from training.config import TrainingConfig

FILE = "model.json"
VERSION = 1
# Earlier versions of this project wrote the settings of a run to this file.
FORMER_FILE = "run_settings.json"
# Options of the network for which bert_config.json contains no entry.
NETWORK = ("left_to_right", "bilstm")
# Classes without a head for a particular task. None is an unknown class.
_HEADLESS = {None, "BertEmbedder", "BertModel", "BertPretrainer"}
# {path of an entry in model.json: its type}. All entries are optional.
_ENTRIES = {
    "origin": dict,
    "origin.changes": list,
    "origin.settings": dict,
    "origin.settings.bert_config": dict,
    "origin.settings.bilstm": bool,
    "origin.settings.flags": dict,
    "origin.settings.left_to_right": bool,
    "origin.settings.tokenizer": dict,
    "origin.settings.tokenizer.do_lower_case": bool,
    "task": dict,
    "task.name": str | None,
    "task.problem_type": str | None,
}
# Flags that name machines or accounts, which model.json must not contain.
_ADDRESSES = frozenset({"gcp_project", "master", "tpu_name", "tpu_zone"})


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
        mode = PROBLEM_TYPES.get(values.get("output_mode"))
        task = {"name": "BertClassifier", "problem_type": mode} if mode else {}
        return {"task": task, "settings": values}
    version = values.get("version")
    if version != VERSION:
        raise ValueError(
            f"{file} has the version {version!r}, but this program reads "
            f"version {VERSION}; use the program that wrote the file, or a "
            "newer one"
        )
    for path, kind in _ENTRIES.items():
        *parents, name = path.split(".")
        inside = values
        for parent in parents:
            inside = inside.get(parent, {})
        if name in inside and not isinstance(inside[name], kind):
            raise ValueError(
                f"{file}: `{name}` is {repr(inside[name])[:80]}, which no run "
                "writes; restore the file from a backup"
            )
    origin, task = values.get("origin", {}), values.get("task", {})
    settings = origin.get("settings", {})
    if config := settings.get("bert_config"):
        try:
            modeling.BertConfig.from_dict(config)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error
    mode = task.get("output_mode")
    if isinstance(mode, str) and mode in PROBLEM_TYPES:
        task = {"problem_type": PROBLEM_TYPES[mode], **task}
    return {
        "task": task,
        "settings": settings,
        "changes": origin.get("changes", ()),
    }


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


def read_run(output_dir: str | os.PathLike[str]) -> ModelFolder:
    """Reads the settings of the run in `output_dir`.

    The settings are empty if the folder contains no checkpoint.
    """
    if not checkpoint_steps(output_dir):
        return ModelFolder(os.fspath(output_dir))
    try:
        return read(output_dir)
    except ValueError as error:
        raise ValueError(
            f"{error}. This file contains the settings that the run was "
            "started with. Restore it from a backup, or delete it if you are "
            "sure that your flags are the same, or train into another "
            "--output_dir"
        ) from error


def describe(
    config: "TrainingConfig",
    model: Any,
    settings: Mapping[str, Any],
    changes: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Returns the contents of a run's model.json.

    Args:
        config: the flags.
        model: the model that is trained.
        settings: settings that must not change when the run is resumed.
        changes: flags that --allow_changed_settings changed.
    """
    head = flag_values(config, Role.HEAD, Role.DECODING)
    resolved = {name: settings[name] for name in head if name in settings}
    # In the settings, max_seq_length is the sum over all choices of an
    # example. The flag is the length of one choice.
    resolved.pop("max_seq_length", None)
    return {
        "version": VERSION,
        "task": {"name": type(model).__name__, **head, **resolved},
        "origin": {
            "script": os.path.basename(sys.argv[0]),
            "command": _command(config),
            "settings": settings,
            "changes": [*changes],
            "versions": {
                "python": platform.python_version(),
                **{n: metadata.version(n) for n in ("keras", "tensorflow")},
            },
        },
    }


def write(
    folder: str | os.PathLike[str],
    description: Mapping[str, Any],
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
    labels: Sequence[str] | None,
) -> None:
    """Writes the files that describe a run's weights into a folder.

    Args:
        folder: folder of the weights, created if missing.
        description: result of `describe`.
        bert_config: configuration of the network.
        tokenizer: tokenizer of the texts, or None if it is unknown, as in
            pretraining on masked records.
        labels: names of the outputs, in order. None = write no labels.txt.

    Raises:
        ValueError: files in the folder describe another model.
        OSError: a file cannot be written.
    """
    from modeling.checkpoints.huggingface import tokenizer as tokenizer_files

    folder = Path(folder)
    former = folder / FILE
    found = json_files.read_json(former) if former.is_file() else {"files": []}
    if FILE in manifests.listed(folder, manifests.WEIGHTS) or (
        "files" not in found and "origin" not in found
    ):
        raise ValueError(
            f"--output_dir={folder} contains a {FILE} that no run in this "
            "folder wrote; choose another --output_dir"
        )
    texts = {"bert_config.json": bert_config.to_json_string().encode()}
    if tokenizer:
        texts |= tokenizer_files.describe_tokenizer(
            tokenizer, bert_config.max_position_embeddings
        )
        known = description["origin"]["settings"].get("tokenizer", {})
        if "do_lower_case" not in known:
            # Do not write tokenizer_config.json, which states the casing.
            # Pretraining records do not say if their text was lower-cased.
            del texts[tokenizer_files.CONFIG_FILE]
    ours = {*found.get("files", [])}
    for name, text in texts.items():
        path = folder / name
        is_left = name in ours and not checkpoint_steps(folder)
        if is_left or not path.is_file():
            write_bytes(path, text)
            ours.add(name)
        elif not _is_same(path, text):
            raise ValueError(
                f"{path} describes another model than this command would "
                "train; choose another --output_dir"
            )
    if labels is not None:
        modeling.save_labels(folder, labels)
    write_json(former, {**description, "files": sorted(ours)})


def _is_same(path: Path, text: bytes) -> bool:
    """Returns whether the file at `path` agrees with the contents `text`."""
    found = path.read_bytes()
    if path.suffix != ".json":
        return found == text
    # Compare only our entries. Another program's file may contain more entries,
    # or another model_max_length.
    former = json_files.parse_json(found, str(path))
    entries = json_files.parse_json(text, path.name)
    entries.pop("model_max_length", None)
    return all(
        former.get(name, value) == value for name, value in entries.items()
    )


def flag_values(config: Any, *roles: Role) -> dict[str, Any]:
    """Returns {flag: value} of the flags with these roles.

    Omits flags that name files or folders.
    """
    return {
        field.name: _without_folders(getattr(config, field.name))
        for field in flags.fields(config, *roles)
        if flags.meta_of(field).kind is None
    }


def _command(config: "TrainingConfig") -> dict[str, Any]:
    """Returns {flag on the command line: value}, with paths cut to names."""
    paths = {
        field.name
        for field in flags.fields(config, *Role)
        if flags.meta_of(field).kind
    }
    return {
        name: ",".join(map(base_name, str(value).split(",")))
        if name in paths or re.match(r"[/~.]|\w+://", str(value))
        else _without_folders(value)
        for name, value in config.given_flags.items()
        if name not in _ADDRESSES
    }


def base_name(path: str) -> str:
    """Returns the last part of a path or URL, never a host or a bucket."""
    path = urllib.parse.urlsplit(path).path if "://" in path else path
    return os.path.basename(path.rstrip("/"))


def _without_folders(value: Any) -> Any:
    """Returns the file name of an existing path. Returns others unchanged."""
    is_path = isinstance(value, str) and os.path.exists(value)
    return os.path.basename(value) if is_path else value
