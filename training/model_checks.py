"""Checks that a model is used or resumed with the settings of its training.

This module imports no TensorFlow.
"""

import dataclasses
import json
import os
import re
from collections.abc import Iterator, Mapping
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
    "eval_input_file flags init_checkpoint tokenizer "
    "train_records_checksum".split()
)
# Entries of bert_config.json that inference does not use.
_NOT_IDENTITY = {
    "attention_probs_dropout_prob",
    "hidden_dropout_prob",
    "initializer_range",
    "unused",
}
# Entries of bert_config.json that the shapes of the weights do not determine.
_INVISIBLE = ("hidden_act", "layer_norm_eps", "num_attention_heads")
# Training flags that must not change even with --allow_changed_settings,
# because checkpoints depend on them.
_FIXED = frozenset(
    "train_batch_size gradient_accumulation_steps seed optimizer ema_decay "
    "freeze_layers batch_size_warmup".split()
)
_BLOCK = re.compile(r"(?:^|[/.])encoder[/.]layer[_.](\d+)[/.]")
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
    optional = MAY_BE_MISSING
    if "flags" in saved and "init_checkpoint" in settings:
        # The run recorded its flags. If it recorded no initial checkpoint, it
        # began with random weights.
        optional = optional - {"init_checkpoint"}
    names = (settings.keys() | (saved.keys() if are_all else ())) - {"flags"}
    names -= optional - (settings.keys() & saved.keys())
    for name, former, given in _differences(
        {name: saved.get(name) for name in names},
        {name: settings.get(name) for name in names},
    ):
        if name == "init_checkpoint":
            raise ValueError(
                f"--output_dir={output_dir} contains a run that began with "
                f"other weights than --init_checkpoint={config.init_checkpoint}"
                " contains. Remove the flag to resume the run with its own "
                "weights, or set another --output_dir"
            )
        raise ValueError(
            f"--output_dir={output_dir} contains a run with {name}={former}; "
            f"received {given}. To resume the run, use the run's value. For a "
            "new run, set another --output_dir"
        )
    changed = _check_flags(config, saved.get("flags", {}), settings["flags"])
    if changed:
        step = checkpoint_steps(output_dir)[-1]
        changes.append({"after_step": step, "flags": changed})
    return {**saved, **settings}, changes


def _check_flags(
    config: "TrainingConfig", saved: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Checks that a resumed run changes no flag that it must not change.

    Ignores flags that the run did not save, because they are newer than the
    run. A flag defined with `may_grow` may increase, and None is no limit.

    Returns:
        {flag: [value before, value now]} for the changes that
        --allow_changed_settings allows.
    """
    changed = {}
    for field in flags.fields(config, *_COMPARED):
        name, meta = field.name, flags.meta_of(field)
        if name not in saved or name not in given or saved[name] == given[name]:
            continue
        former, now = saved[name], given[name]
        if meta.may_grow and (former is None or now is None or now > former):
            continue
        may_change = meta.role is Role.TRAINING and name not in _FIXED
        if not (may_change and config.allow_changed_settings):
            message = (
                f"--output_dir={config.output_dir} contains a run with "
                f"--{name}={former}; received {now}. Set another --output_dir. "
                "To start from this run's weights, also set "
                f"--init_checkpoint={config.output_dir}"
            )
            if may_change:
                message += (
                    ". Or set --allow_changed_settings to resume with the new "
                    "value"
                )
            raise ValueError(message)
        changed[name] = [former, now]
    return changed


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
        ValueError: a setting differs, or the files beside a run's weights
            describe other weights. The message names the setting.
    """
    # Import late, because run_state loads TensorFlow.
    from training import run_state

    run_state.check(path)
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
    both = given.keys() & trained.keys()
    compared = [{n: each[n] for n in both} for each in (trained, given)]
    for each in compared:
        if "bert_config" in each:
            known = dict(each["bert_config"])
            values = dataclasses.asdict(modeling.BertConfig.from_dict(known))
            # If the model will be trained, its sizes may change.
            names = _INVISIBLE if trains else values.keys() - _NOT_IDENTITY
            each["bert_config"] = {name: values[name] for name in names}
    for name, former, now in _differences(*compared):
        if tokenizer and name == "tokenizer.vocab":
            now = f"{now}, of {tokenizer.vocab_file}"
        raise ValueError(
            f"{flag}={os.fspath(path)} was trained with {name}={former}; "
            f"received {now}. Use the value that it was trained with"
        )
    if not trains:
        _check_blocks(flag, path, bert_config.num_hidden_layers)


def _check_blocks(flag: str, path: str, num_blocks: int) -> None:
    """Checks that a model's configuration does not omit blocks of the model."""
    try:
        names = modeling.read_shapes(modeling.find_checkpoint(path))
    except OSError:
        # Another check reports weights that are missing or damaged.
        return
    found = {int(m[1]) for m in map(_BLOCK.search, names) if m}
    if found and max(found) >= num_blocks:
        raise ValueError(
            f"{flag}={os.fspath(path)} contains {max(found) + 1} blocks, but "
            f"num_hidden_layers is {num_blocks}; correct the configuration"
        )


def _check_vocabulary(
    flag: str, path: str, file: str | None, tokenizer: FullTokenizer
) -> None:
    """Checks that the tokenizer uses the vocabulary in a model's folder.

    The tokenizer may replace [unusedN] in the folder's vocabulary by any word.
    """
    ours_file = tokenizer.vocab_file
    if file is None or os.path.abspath(file) == os.path.abspath(ours_file):
        return
    words = zip(
        FullTokenizer(file, None).tokens, tokenizer.tokens, strict=False
    )
    for row, (word, ours) in enumerate(words, start=1):
        if word != ours and not word.startswith("[unused"):
            raise ValueError(
                f"--vocab_file={ours_file} is not the vocabulary of {flag}="
                f"{path}: line {row} is {ours!r}, but {word!r} in {file}; "
                "remove --vocab_file, or set it to that file"
            )


def _differences(
    former: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Yields (name, former value, value now) of the settings that differ.

    For an entry of a dict, the name is such as `bert_config.hidden_size`.
    """
    for name in sorted(former.keys() | given.keys()):
        before, now = former.get(name), given.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            both = before.keys() & now.keys()
            if name == "tokenizer":
                # An earlier version may have recorded fewer entries.
                before, now = ({n: d[n] for n in both} for d in (before, now))
            for key, *values in _differences(before, now):
                yield f"{name}.{key}", *values
        elif before != now:
            if isinstance(before, list) and isinstance(now, list):
                # Of a long list, such as files, name only the entries that
                # differ.
                gone = [value for value in before if value not in now]
                come = [value for value in now if value not in before]
                if gone and come:
                    before, now = gone, come
            yield name, before, now
