"""What a folder of weights tells about them.

A run, its best/ and averages/, the folders of --export_weights and of
tools.convert_checkpoint, and every export have these files:

    model.json                         the head, and where the weights come from
    bert_config.json                   the network
    vocab.txt, tokenizer_config.json   how text is cut into WordPieces
    labels.txt                         names of the outputs, in order

Google's releases and Hugging Face's folders have some of them, or their own
forms of them. Imports no TensorFlow.
"""

import dataclasses
import os
import platform
import sys
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
from training.run_folder import AVERAGES, BEST, checkpoint_steps, folder_of

if TYPE_CHECKING:
    from modeling import BertConfig
    from training.config import ModelConfig, TrainingConfig

FILE = "model.json"
VERSION = 1
# The settings of runs from before there was a model.json.
FORMER_FILE = "run_settings.json"
# Options of the network that bert_config.json has no entry for.
NETWORK = ("left_to_right", "bilstm")


@dataclasses.dataclass(frozen=True)
class ModelFolder:
    """A folder with weights, as its files describe it.

    Attributes:
        path: the folder.
        config_file: path of the configuration; None if there is none.
        vocab_file: path of vocab.txt or tokenizer.json; None without either.
        do_lower_case: whether text is lower-cased; None if no file tells.
        description: path of model.json; None if there is none.
        task: {"name": class of the model, "problem_type": transformers' name
            of a classifier's outputs, name of a flag: its value} of the head;
            of Hugging Face's, "architectures" instead of "name".
        settings: what must not change in a resume of the run that wrote it; {}
            in a release.
        changes: what --allow_changed_settings changed, one dict a time.
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
        """{name in NETWORK: whether the weights were trained with it}."""
        return {name: self.settings.get(name, False) for name in NETWORK}


def read(path: str | os.PathLike[str]) -> ModelFolder:
    """Returns what is known about the weights at a path.

    Args:
        path: a folder with weights, or a checkpoint in it.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is not what its name says, or of a later version.
    """
    folder = Path(path)
    if not folder.is_dir():
        folder = folder.parent
    # Before there was a model.json, these folders had only weights.
    places = [folder]
    if folder.name in (BEST, AVERAGES):
        places.append(folder.parent)
    # Several runs in a folder share the first one's.
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
            f"{file} has the version {version!r}, and this program "
            f"reads {VERSION}; use the program that wrote it, or a newer one"
        )

    def part(inside: Mapping[str, Any], name: str, kind: type) -> Any:
        value = inside.get(name) or kind()
        if not isinstance(value, kind):
            raise ValueError(
                f"{file}: `{name}` is {repr(value)[:80]}, not what a run "
                "writes; restore the file"
            )
        return value

    origin, task = part(values, "origin", dict), part(values, "task", dict)
    settings = part(origin, "settings", dict)
    for setting in ("bert_config", "flags", "tokenizer"):
        part(settings, setting, dict)
    mode = task.get("output_mode")
    return {
        "task": _typed(task, mode if isinstance(mode, str) else None),
        "settings": settings,
        "changes": part(origin, "changes", list),
    }


def _typed(task: Mapping[str, Any], mode: str | None) -> dict[str, Any]:
    """Adds transformers' name of what a classifier's outputs are."""
    found = PROBLEM_TYPES.get(mode or "")
    return {**({"problem_type": found} if found else {}), **task}


def _read_huggingface(folder: Path) -> dict[str, Any]:
    if not (folder / "config.json").is_file():
        return {}
    values = json_files.read_json(folder / "config.json")
    found = values.get("problem_type")
    if not found and len(values.get("id2label") or ()) == 1:
        # One output is a number to transformers; so cross-encoders are saved.
        found = PROBLEM_TYPES["regression"]
    modes = {theirs: ours for ours, theirs in PROBLEM_TYPES.items()}
    task = {
        "architectures": values.get("architectures"),
        "problem_type": found,
        "output_mode": modes.get(found),
    }
    return {"task": {name: value for name, value in task.items() if value}}


def complete(config: "ModelConfig") -> None:
    """Sets the flags that were not given to what the model's folder tells.

    Args:
        config: the flags. Of the folder of `weights`, the network, the
            vocabulary and the casing count always, the head where it is not
            trained.

    Raises:
        ValueError: the folder does not tell a flag that must be set.
    """
    told: dict[str, Any] = {}
    if config.weights:
        try:
            folder = read(config.weights)
        except ValueError:
            # It loads TensorFlow; a power cut may have emptied a file.
            from training import run_state

            run_state.mend(folder_of(config.weights), is_own=False)
            folder = read(config.weights)
        if not getattr(config, "do_train", False):
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
                f"--{name} does not take; restore the file"
            )
        object.__setattr__(config, name, value)
    if hasattr(config, "all_flags"):
        every = {**config.all_flags, **changed}
        object.__setattr__(config, "all_flags", every)
    if missing := [
        f"--{name}" for name in config.needed if getattr(config, name) is None
    ]:
        path = config.weights
        if path:
            # It may not exist, or hold no weights, such as an export.
            modeling.find_checkpoint(path)
        where = f"{path} does not tell" if path else "see"
        raise ValueError(
            f"missing required flags: {', '.join(missing)} ({where} "
            f"{'them' if path else '--help'})"
        )


def describe(
    config: "TrainingConfig",
    model: Any,
    settings: Mapping[str, Any],
    changes: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Returns the contents of a run's model.json.

    Nothing in it tells where files were, on which machine, or what they hold.

    Args:
        config: the flags.
        model: the model that is trained.
        settings: what must not change in a resume.
        changes: what was changed all the same.
    """
    head = flag_values(config, Role.HEAD, Role.DECODING)
    resolved = {name: settings[name] for name in head if name in settings}
    # The settings count all choices of an example.
    resolved.pop("max_seq_length", None)
    return {
        "version": VERSION,
        "task": {"name": type(model).__name__, **head, **resolved},
        "origin": {
            "script": os.path.basename(sys.argv[0]),
            "settings": settings,
            "changes": [*changes],
            "versions": {
                "python": platform.python_version(),
                **{n: metadata.version(n) for n in ("keras", "tensorflow")},
            },
        },
    }


def describe_copy(
    path: str | None,
    model_name: str,
    task: Mapping[str, Any] | None = None,
    step: int | None = None,
    changed: Sequence[str] = (),
) -> dict[str, str]:
    """Returns {model.json: its text} for a copy of weights, or an export.

    Args:
        path: where the weights come from; None if that is unknown.
        model_name: class of the model.
        task: {name: value} of the head, besides what `path` tells.
        step: the weights' step, if it is known.
        changed: settings of `path` that the copy does not share.
    """
    folder = read(path) if path else ModelFolder("")
    values: dict[str, Any] = {"version": VERSION, "origin": {}}
    if folder.description:
        values = json_files.read_json(folder.description)
    values["task"] = {**folder.task, "name": model_name, **(task or {})}
    values["task"].pop("architectures", None)
    settings = folder.settings
    values["origin"]["settings"] = {
        name: settings[name] for name in settings if name not in changed
    }
    if step is not None:
        values["origin"]["step"] = step
    return {FILE: json_files.format_json(values, FILE, indent=2) + "\n"}


def write_run(
    config: "TrainingConfig",
    model: Any,
    settings: Mapping[str, Any],
    changes: Sequence[Mapping[str, Any]],
    tokenizer: FullTokenizer | None,
    labels: Sequence[str] | None,
) -> None:
    """Describes the weights in each folder of a run.

    Args:
        config: the flags.
        model: the model that is trained.
        settings: what must not change in a resume, as `check_same` returns it.
        changes: the changes, as `check_same` returns them.
        tokenizer: see `write`.
        labels: see `write`.
    """
    description = describe(config, model, settings, changes)
    for folder in config.weight_folders:
        write(folder, description, model.config, tokenizer, labels)


def write(
    folder: str | os.PathLike[str],
    description: Mapping[str, Any],
    bert_config: "BertConfig",
    tokenizer: FullTokenizer | None,
    labels: Sequence[str] | None,
) -> None:
    """Writes what describes the weights that a run puts into a folder.

    Args:
        folder: created if missing.
        description: result of `describe`.
        bert_config: the network.
        tokenizer: the tokenizer; None where it is unknown, as in pretraining
            on masked records.
        labels: names of the outputs, in order, or None.

    Raises:
        ValueError: the folder describes another model.
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
            f"--output_dir={folder} holds a {FILE} that no run there wrote; "
            "give another --output_dir"
        )
    texts = {"bert_config.json": bert_config.to_json_string().encode()}
    if tokenizer:
        texts |= tokenizer_files.describe_tokenizer(
            tokenizer, bert_config.max_position_embeddings
        )
        known = description["origin"]["settings"].get("tokenizer", {})
        if "do_lower_case" not in known:
            # The records of a pretraining may not tell.
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
                f"{path} describes another model than the one to be trained; "
                "give another --output_dir"
            )
    if labels is not None:
        modeling.save_labels(folder, labels)
    write_json(former, {**description, "files": sorted(ours)})


def _is_same(path: Path, text: bytes) -> bool:
    """Returns whether a file, perhaps a user's own, describes the same."""
    found = path.read_bytes()
    if path.suffix != ".json":
        return found == text
    # Another program's may have more entries, or another longest length.
    former = json_files.parse_json(found, str(path))
    entries = json_files.parse_json(text, path.name)
    entries.pop("model_max_length", None)
    return all(
        former.get(name, value) == value for name, value in entries.items()
    )


def flag_values(config: Any, *roles: Role) -> dict[str, Any]:
    """Returns {flag: value}; of paths, what is in the files counts instead."""
    return {
        field.name: _without_folders(getattr(config, field.name))
        for field in flags.fields(config, *roles)
        if flags.meta_of(field).kind is None
    }


def _without_folders(value: Any) -> Any:
    """Returns a value; of a path, such as that of class weights, its name."""
    is_path = isinstance(value, str) and os.path.exists(value)
    return os.path.basename(value) if is_path else value
