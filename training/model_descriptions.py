"""Writes the files that describe weights. model_folder.py reads them.

The files do not reveal paths, machines or the contents of other files. This
module imports no TensorFlow.
"""

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import modeling
from data.text.tokenization import FullTokenizer
from files import flags, json_files, manifests
from files.atomic import write_bytes, write_json
from files.flags import Role
from training import model_card
from training.model_folder import FILE, VERSION, ModelFolder, read
from training.run_folder import checkpoint_steps

if TYPE_CHECKING:
    from modeling import BertConfig
    from training.config import TrainingConfig

# Flags that name machines or accounts, which model.json must not contain.
_ADDRESSES = frozenset({"gcp_project", "master", "tpu_name", "tpu_zone"})


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


def describe_copy(
    path: str | None,
    model: Any,
    task: Mapping[str, Any] | None = None,
    step: int | None = None,
    changed: Sequence[str] = (),
    *,
    card: str,
    labels: Sequence[str] | None = None,
    tokenizer: FullTokenizer | None = None,
    results: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, str]:
    """Returns {file: text} of model.json and README.md for copied weights.

    Args:
        path: checkpoint or folder that the weights come from. None if the
            weights are random.
        model: the model that is copied or exported.
        task: {name: value} of the head, in addition to the entries that the
            folder at `path` records.
        step: training step at which the weights were saved, None if unknown.
        changed: names of settings recorded at `path` that no longer apply to
            the copy.
        card: kind of model card, passed to `model_card.format_card` as `kind`.
        labels: names of the outputs, in order. None = list no names.
        tokenizer: tokenizer of the model. None = do not state the casing.
        results: {name of a results file: its results} of this command. None
            reads the results of the run at `path`.
    """
    folder = read(path) if path else ModelFolder("")
    values: dict[str, Any] = {"version": VERSION}
    if folder.description:
        values = json_files.read_json(folder.description)
    values.setdefault("origin", {})
    name = type(model).__name__
    is_same = folder.task.get("name") == name and not changed
    values["task"] = {**folder.task, "name": name, **(task or {})}
    values["task"].pop("architectures", None)
    settings = folder.settings
    values["origin"]["settings"] = {
        name: settings[name] for name in settings if name not in changed
    }
    if step is not None:
        values["origin"]["step"] = step
    if results is not None:
        values["evaluation"] = model_card.find_results(results, step or 0)
    elif path and is_same and (found := model_card.read_results(path)):
        values["evaluation"] = found
    elif not is_same:
        values.pop("evaluation", None)
    # These scores belong to the exported file, not to this copy.
    values.pop("export_evaluation", None)
    return {
        FILE: json_files.format_json(values, FILE, indent=2) + "\n",
        manifests.CARD: model_card.format_card(
            values,
            card,
            labels,
            tokenizer.do_lower_case if tokenizer else None,
            getattr(model, "num_labels", None),
        ),
    }


def write_run(
    config: "TrainingConfig",
    model: Any,
    settings: Mapping[str, Any],
    changes: Sequence[Mapping[str, Any]],
    tokenizer: FullTokenizer | None,
    labels: Sequence[str] | None,
) -> None:
    """Calls `write` for each folder in which a run saves weights.

    Args:
        config: the flags.
        model: the model that is trained.
        settings: the settings that `model_checks.check_same` returns.
        changes: the changes that `model_checks.check_same` returns.
        tokenizer: tokenizer of the texts, or None if it is unknown.
        labels: names of the outputs, in order. None = write no labels.txt.
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
    kinds = {
        field.name: flags.meta_of(field).kind
        for field in flags.fields(config, *Role)
    }
    return {
        name: ",".join(Path(path).name for path in str(value).split(","))
        if kinds.get(name)
        else _without_folders(value)
        for name, value in config.given_flags.items()
        if name not in _ADDRESSES
    }


def _without_folders(value: Any) -> Any:
    """Returns the file name of an existing path. Returns others unchanged."""
    is_path = isinstance(value, str) and os.path.exists(value)
    return os.path.basename(value) if is_path else value
