"""Checks that a model is used or resumed with the settings of its training.

This module imports no TensorFlow.
"""

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import modeling
from data.text.tokenization import FullTokenizer
from files import flags
from files.flags import Role
from training.model_folder import flag_values, read, read_run
from training.run_folder import checkpoint_steps

if TYPE_CHECKING:
    from training.config import TrainingConfig

# Settings that a resumed run may add or omit. They do not change the training,
# or earlier versions of this project did not record them.
MAY_BE_MISSING = frozenset(
    {
        "eval_input_file",
        "flags",
        "init_checkpoint",
        "tokenizer",
        "train_records_checksum",
    }
)
# Entries of bert_config.json that inference does not use.
_NOT_IDENTITY = (
    "attention_probs_dropout_prob",
    "hidden_dropout_prob",
    "initializer_range",
    "unused",
)
# Entries of bert_config.json that the shapes of the weights do not determine.
_INVISIBLE = ("hidden_act", "layer_norm_eps", "num_attention_heads")
# Training flags that must not change even with --allow_changed_settings,
# because checkpoints depend on them.
_FIXED = frozenset(
    "train_batch_size gradient_accumulation_steps seed optimizer ema_decay "
    "freeze_layers batch_size_warmup".split()
)
# Roles of the flags that a resume must not change.
_COMPARED = (Role.IDENTITY, Role.HEAD, Role.TRAINING)


def check_same(
    config: "TrainingConfig",
    settings: Mapping[str, Any],
    are_all: bool = True,
) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """Checks that a run is resumed with the settings it started with.

    Args:
        config: the flags.
        settings: JSON-serializable dict of settings, besides the flags, that
            must not change. Keys in MAY_BE_MISSING are optional.
        are_all: False if `settings` is incomplete, so that missing settings are
            no errors.

    Returns:
        the settings and the changed flags, to record in model.json.

    Raises:
        ValueError: a setting differs. The message names the setting.
    """
    output_dir = config.output_dir
    settings = {**settings, "flags": flag_values(config, *_COMPARED)}
    # Compare the settings as model.json stores them, with lists for tuples.
    settings = json.loads(json.dumps(settings))
    folder = read_run(output_dir)
    saved, changes = folder.settings, list(folder.changes)
    if not saved:
        return settings, changes
    names = settings.keys() | (saved.keys() if are_all else ())
    for name in sorted(names - {"flags"}):
        # Earlier versions of this project recorded neither "flags" nor the
        # initial checkpoint. If only "flags" is recorded, the run began with
        # random weights.
        is_start = name == "init_checkpoint" and "flags" in saved
        if name in MAY_BE_MISSING and not (
            name in settings and (name in saved or is_start)
        ):
            continue
        former, given = saved.get(name), settings.get(name)
        if name == "tokenizer":
            former, given = _known_to_both(former or {}, given or {})
        if former != given and name == "init_checkpoint":
            raise ValueError(
                f"--output_dir={output_dir} contains a run that began with "
                f"other weights than --init_checkpoint={config.init_checkpoint}"
                " contains. Remove the flag to resume the run with its own "
                "weights, or set another --output_dir"
            )
        if former != given:
            name, former, given = _difference(name, former, given)
            raise ValueError(
                f"--output_dir={output_dir} contains a run with {name}="
                f"{former}; received {given}. To resume the run, use the "
                "run's value. For a new run, set another --output_dir"
            )
    changed = _changed_flags(config, saved.get("flags", {}), settings["flags"])
    allowed = {
        field.name for field in flags.fields(config, Role.TRAINING)
    } - _FIXED
    for name, (former, given) in changed.items():
        if name in allowed and config.allow_changed_settings:
            continue
        way = (
            ". Or set --allow_changed_settings to resume with the new value"
            if name in allowed
            else ""
        )
        raise ValueError(
            f"--output_dir={output_dir} contains a run with --{name}={former}; "
            f"received {given}. Set another --output_dir. To start from this "
            f"run's weights, also set --init_checkpoint={output_dir}{way}"
        )
    if changed:
        step = checkpoint_steps(output_dir)[-1]
        changes.append({"after_step": step, "flags": changed})
    return {**saved, **settings}, changes


def _changed_flags(
    config: "TrainingConfig", saved: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Returns {flag: [value before, value now]} for each changed flag.

    Ignores flags that the run did not save, because they are newer than the
    run. A flag defined with `may_grow` may increase, and None is no limit.
    """
    growing = {
        field.name
        for field in flags.fields(config, *_COMPARED)
        if flags.meta_of(field).may_grow
    }
    return {
        name: [saved[name], now]
        for name, now in given.items()
        if name in saved
        and saved[name] != now
        and not (
            name in growing
            and (saved[name] is None or now is None or now > saved[name])
        )
    }


def check_identity(
    flag: str,
    path: str,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None = None,
    given: Mapping[str, Any] | None = None,
    trains: bool = False,
) -> None:
    """Checks that a model is used with the network it was trained with.

    Args:
        flag: the flag that named the model, for the message.
        path: the checkpoint, or its folder.
        bert_config: configuration of the network that loads the checkpoint.
        tokenizer: tokenizer of the texts. None = do not compare tokenizers.
        given: {setting: value} to compare, for example for the options in
            model_folder.NETWORK. Settings that the model's run did not record
            are not compared.
        trains: whether the model will be trained. Then sizes in the
            configuration may differ, as in a student with fewer blocks.

    Raises:
        ValueError: a setting differs. The message names the setting.
    """
    folder = read(path)
    given = {**(given or {}), "bert_config": bert_config.to_dict()}
    if tokenizer:
        _check_vocabulary(flag, path, folder.vocab_file, tokenizer)
        given["tokenizer"] = tokenizer.identity
    # A release records no settings, so training may change these options.
    network = folder.network if folder.settings or not trains else {}
    trained = {**folder.settings, **network}
    if trains:
        # Do not compare --bilstm, because it belongs to the head, which starts
        # with new weights.
        trained.pop("bilstm", None)
    if "tokenizer" not in trained and folder.do_lower_case is not None:
        # A Hugging Face folder records only the casing of its tokenizer.
        trained["tokenizer"] = {"do_lower_case": folder.do_lower_case}
    if folder.config_file and "bert_config" not in trained:
        config = modeling.load_config(folder.config_file)
        trained["bert_config"] = config.to_dict()
    for name in sorted(given.keys() & trained.keys()):
        former, now = trained[name], given[name]
        if name == "tokenizer":
            former, now = _known_to_both(former, now)
        if name == "bert_config":
            former, now = (
                _identity(config, trains) for config in (former, now)
            )
        if former != now:
            name, former, now = _difference(name, former, now)
            if tokenizer and name == "tokenizer.vocab":
                now = f"{now}, of {tokenizer.vocab_file}"
            raise ValueError(
                f"{flag}={os.fspath(path)} was trained with {name}={former}; "
                f"received {now}. Use the value that it was trained with"
            )


def _identity(config: Mapping[str, Any], trains: bool) -> dict[str, Any]:
    """Returns the entries of bert_config.json that must not change.

    `trains` tells whether the model will be trained. Then its sizes may change.
    """
    values = dataclasses.asdict(modeling.BertConfig.from_dict(dict(config)))
    names = _INVISIBLE if trains else values.keys() - set(_NOT_IDENTITY)
    return {name: values[name] for name in names}


def _check_vocabulary(
    flag: str, path: str, file: str | None, tokenizer: FullTokenizer
) -> None:
    """Checks that the tokenizer uses the vocabulary in a model's folder.

    The tokenizer may replace [unusedN] in the folder's vocabulary by any word.
    """
    if file is None or os.path.abspath(file) == os.path.abspath(
        tokenizer.vocab_file
    ):
        return
    theirs = FullTokenizer(file, None).tokens
    for row, (word, ours) in enumerate(
        zip(theirs, tokenizer.tokens, strict=False), start=1
    ):
        if word != ours and not word.startswith("[unused"):
            raise ValueError(
                f"--vocab_file={tokenizer.vocab_file} is not the vocabulary of "
                f"{flag}={path}: line {row} is {ours!r}, but {word!r} in "
                f"{file}; remove --vocab_file, or set it to that file"
            )


def _known_to_both(
    former: Mapping[str, Any], given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Returns two descriptions of tokenizers, reduced to their common entries.

    An earlier version of this project may have recorded fewer entries.
    """
    names = former.keys() & given.keys()
    return [{name: each[name] for name in names} for each in (former, given)]


def _difference(name: str, former: Any, given: Any) -> tuple[str, Any, Any]:
    """Finds the first entry in which two values of a setting differ.

    Returns (name of the entry, former value, value now). For an entry of a
    dict, the name is such as `bert_config.hidden_size`.
    """
    if isinstance(former, dict) and isinstance(given, dict):
        for key in sorted(former.keys() | given.keys()):
            if former.get(key) != given.get(key):
                return _difference(
                    f"{name}.{key}", former.get(key), given.get(key)
                )
    if isinstance(former, list) and isinstance(given, list):
        # For a long list, such as files, name only the entries that differ.
        gone = [value for value in former if value not in given]
        come = [value for value in given if value not in former]
        if gone and come:
            return name, gone, come
    return name, former, given
