"""Reads the files that describe the weights in a folder, and compares them.

These files are in a run's folder, in its best/, in the folders that
--export_weights and tools.convert_checkpoint write, and in every export:

    model.json                         the head, and where the weights come from
    bert_config.json                   the network
    vocab.txt, tokenizer_config.json   how text is cut into WordPieces
    labels.txt                         names of the outputs, in order

Google's releases and Hugging Face's folders contain some of these files, or
similar files with other names. run_folder.py writes the files of a run. Its
model.json contains names and checksums of the input files, but no folders, no
names of machines and no texts of examples. This module imports no TensorFlow.
"""

import dataclasses
import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import modeling
from data.text import casing
from data.text.tokenization import FullTokenizer
from files import json_files
from files.labels import PROBLEM_TYPES

FILE = "model.json"
VERSION = 1
# Options of the network for which bert_config.json contains no entry.
NETWORK = ("left_to_right", "bilstm")
# Classes of models without a task-specific head. None = unknown class.
_HEADLESS = {None, "BertEmbedder", "BertModel", "BertPretrainer"}
# {path of an entry in model.json: its type}. All entries are optional.
_ENTRIES = {
    "origin": dict,
    "origin.settings": dict,
    "origin.settings.bert_config": dict,
    "origin.settings.bilstm": bool,
    "origin.settings.flags": dict,
    "origin.settings.left_to_right": bool,
    "origin.settings.num_texts": int,
    "origin.settings.tokenizer": dict,
    "origin.settings.tokenizer.do_lower_case": bool,
    "task": dict,
    "task.name": str | None,
    "task.problem_type": str | None,
}
# Entries of bert_config.json that inference does not use.
_NOT_IDENTITY = {
    "attention_probs_dropout_prob",
    "hidden_dropout_prob",
    "initializer_range",
    "unused",
}
_BLOCK = re.compile(r"(?:^|[/.])encoder[/.]layer[_.](\d+)[/.]")
# Entries of bert_config.json that the shapes of the weights do not determine.
_INVISIBLE = ("hidden_act", "layer_norm_eps", "num_attention_heads")


@dataclasses.dataclass(frozen=True)
class ModelFolder:
    """Description of the weights in a folder, from the folder's files.

    Attributes:
        path: path of the folder.
        weights: path that was passed to `read`: the folder, or a checkpoint in
            the folder.
        flag: flag whose value is `weights`, such as "--init_checkpoint", for
            messages. "" if there is none.
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
            folder is resumed. {} if no run wrote it, as for Google's models.
    """

    path: str
    weights: str = ""
    flag: str = ""
    config_file: str | None = None
    vocab_file: str | None = None
    do_lower_case: bool | None = None
    description: str | None = None
    task: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def source(self) -> str:
        """The path that was read, as --flag=path, for messages."""
        return f"{self.flag}={self.weights}" if self.flag else self.weights

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
            ValueError: the folder describes a model of a different class.
        """
        found = self.model_class
        if found != name and not {found, name} & _HEADLESS:
            raise ValueError(
                f"{self.path} contains a {found}, but this task needs a {name}"
                ". Use the model for its own task, or pass it to "
                "--init_checkpoint, with --do_train and another --output_dir"
            )

    @functools.cached_property
    def shapes(self) -> dict[str, Sequence[int]]:
        """{name in the checkpoint: shape} of the weights, read once."""
        return modeling.read_shapes(modeling.find_checkpoint(self.weights))

    @property
    def labels(self) -> list[str] | None:
        """Names of the outputs, in order, or None if the folder names none."""
        return modeling.load_labels(self.path)

    def check_identity(
        self,
        bert_config: modeling.BertConfig,
        tokenizer: FullTokenizer | None = None,
        given: Mapping[str, Any] | None = None,
        trains: bool = False,
    ) -> None:
        """Checks that a model is used with the settings it was trained with.

        Args:
            bert_config: configuration of the network that loads the checkpoint.
            tokenizer: tokenizer of the texts. None = do not compare tokenizers.
            given: other settings to compare, such as the options in NETWORK, as
                {setting: value}. Settings that the model's run did not record
                are not compared.
            trains: whether the model will be trained. Then its sizes may differ
                from the folder's. A student may contain fewer blocks.

        Raises:
            ValueError: a setting differs, or the files beside a run's weights
                describe other weights. The message names the setting or the
                file.
        """
        # Import late, because fingerprints loads TensorFlow.
        from training import fingerprints

        fingerprints.check_weights(self.weights)
        given = {**(given or {}), "bert_config": bert_config.to_dict()}
        if tokenizer:
            self._check_vocabulary(tokenizer)
            given["tokenizer"] = tokenizer.identity
        # Folders of Google's models record no settings, so training may set the
        # options in NETWORK to any value.
        network = self.network if self.settings or not trains else {}
        trained = {**self.settings, **network}
        if trains:
            # Do not compare --bilstm, because it belongs to the head, which
            # starts with new weights.
            trained.pop("bilstm", None)
        if "tokenizer" not in trained and self.do_lower_case is not None:
            # A Hugging Face folder records only the casing of its tokenizer.
            trained["tokenizer"] = {"do_lower_case": self.do_lower_case}
        if self.config_file and "bert_config" not in trained:
            config = modeling.load_config(self.config_file)
            trained["bert_config"] = config.to_dict()
        both = given.keys() & trained.keys()
        compared = [{n: each[n] for n in both} for each in (trained, given)]
        for each in compared:
            if "bert_config" in each:
                known = dict(each["bert_config"])
                config = modeling.BertConfig.from_dict(known)
                values = dataclasses.asdict(config)
                # If the model will be trained, its sizes may change.
                names = _INVISIBLE if trains else values.keys() - _NOT_IDENTITY
                each["bert_config"] = {name: values[name] for name in names}
        for name, former, now in differences(*compared):
            if tokenizer and name == "tokenizer.vocab":
                now = f"{now}, of {tokenizer.vocab_file}"
            raise ValueError(
                f"{self.source} was trained with {name}={former}; received "
                f"{now}. Use the value that it was trained with"
            )
        if not trains:
            self._check_blocks(bert_config.num_hidden_layers)

    def _check_blocks(self, num_blocks: int) -> None:
        """Checks that the configuration includes all blocks in the folder."""
        try:
            found = {int(m[1]) for m in map(_BLOCK.search, self.shapes) if m}
        except OSError:
            # The weights are missing or damaged. Loading them raises an error
            # later.
            return
        if found and max(found) >= num_blocks:
            raise ValueError(
                f"{self.source} contains {max(found) + 1} blocks, but "
                f"num_hidden_layers is {num_blocks}. Correct this number in "
                "the model's configuration file"
            )

    def _check_vocabulary(self, tokenizer: FullTokenizer) -> None:
        """Checks that the tokenizer uses the vocabulary in this folder.

        The tokenizer's vocabulary may contain other words in place of the
        entries [unusedN] of this folder's vocabulary.
        """
        file, ours_file = self.vocab_file, tokenizer.vocab_file
        if file is None or os.path.abspath(file) == os.path.abspath(ours_file):
            return
        words = zip(
            FullTokenizer(file, None).tokens, tokenizer.tokens, strict=False
        )
        for row, (word, ours) in enumerate(words, start=1):
            if word != ours and not word.startswith("[unused"):
                raise ValueError(
                    f"--vocab_file={ours_file} is not the vocabulary of "
                    f"{self.source}: line {row} is {ours!r} instead of {word!r}"
                    f". Remove --vocab_file, or set --vocab_file={file}"
                )


def read(path: str | os.PathLike[str], flag: str = "") -> ModelFolder:
    """Returns a description of the weights at a path.

    Args:
        path: a folder with weights, or a checkpoint in it.
        flag: flag that names the path, for messages.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is malformed, or a newer version of this project
            wrote the file.
    """
    folder = Path(path)
    if not folder.is_dir():
        folder = folder.parent

    def find(*names: str) -> str | None:
        files = (folder / name for name in names)
        return next((str(file) for file in files if file.is_file()), None)

    file = find(FILE)
    values = _read_file(file) if file else _read_huggingface(folder)
    do_lower_case = casing.read_do_lower_case(folder)
    if do_lower_case is None:
        known = values.get("settings", {}).get("tokenizer", {})
        do_lower_case = known.get("do_lower_case")
    return ModelFolder(
        str(folder),
        os.fspath(path),
        flag,
        find("bert_config.json", "config.json"),
        find("vocab.txt", "tokenizer.json"),
        do_lower_case,
        file,
        **values,
    )


def _read_file(file: str) -> dict[str, Any]:
    values = json_files.read_json(file)
    version = values.get("version")
    if version != VERSION:
        raise ValueError(
            f"{file} has the version {version!r}, but this installation reads "
            f"version {VERSION}; use the version of this project that wrote "
            "the file, or a newer version"
        )
    for path, kind in _ENTRIES.items():
        *parents, name = path.split(".")
        inside = values
        for parent in parents:
            inside = inside.get(parent, {})
        if name in inside and not isinstance(inside[name], kind):
            raise ValueError(
                f"{file}: `{name}` is {repr(inside[name])[:80]}, which is not "
                "a valid value; restore the file from a backup"
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
    return {"task": task, "settings": settings}


def _read_huggingface(folder: Path) -> dict[str, Any]:
    if not (folder / "config.json").is_file():
        return {}
    values = json_files.read_json(folder / "config.json")
    found = values.get("problem_type")
    if not found and len(values.get("id2label") or ()) == 1:
        # transformers treats a single output as a regression. Cross-encoders
        # are saved without a problem_type.
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


def folder_of(checkpoint: str) -> str:
    """Returns the folder of a checkpoint. A folder is returned unchanged."""
    is_folder = os.path.isdir(checkpoint)
    return (checkpoint if is_folder else os.path.dirname(checkpoint)) or "."


def differences(
    former: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yields (name, former value, value now) of the settings that differ.

    Names of entries in a dict are dotted, such as `bert_config.hidden_size`.
    """
    for name in sorted(former.keys() | given.keys()):
        before, now = former.get(name), given.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            both = before.keys() & now.keys()
            if name == "tokenizer":
                # Pretraining on masked records records only some entries.
                before, now = ({n: d[n] for n in both} for d in (before, now))
            for key, *values in differences(before, now):
                yield f"{name}.{key}", *values
        elif before != now:
            if isinstance(before, list) and isinstance(now, list):
                # In a long list, such as a list of files, show only the entries
                # that differ.
                gone = [value for value in before if value not in now]
                come = [value for value in now if value not in before]
                if gone and come:
                    before, now = gone, come
            yield name, before, now
