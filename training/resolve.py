"""Completes the flags of a script from the model's folder."""

import dataclasses
import importlib.util
from typing import Any, TypeVar

import modeling
from files import flags
from modeling import hub, presets
from modeling.checkpoint_folders import find_best
from modeling.presets import Preset, checkpoint_steps
from training.config import ExportConfig, ModelConfig, TrainingConfig
from training.run_folder import check_resumed

Flags = TypeVar("Flags", bound=ModelConfig)
# Flags of weights that may be of the Hugging Face hub.
_WEIGHTS = ("init_checkpoint", "teacher")
# Formats of an export.
_FORMATS = ("saved_model", "litert", "onnx")


def read_preset(config: TrainingConfig) -> Preset | None:
    """Reads the folder of the weights that a training command begins with.

    This is --output_dir if it contains a checkpoint, or only a best step and
    the command does not train. Otherwise it is the folder of --init_checkpoint.
    Returns None if the weights are random.
    """
    folder, start = config.output_dir, config.initial_checkpoint
    flag = "--init_checkpoint" if config.init_checkpoint else "--teacher"
    # A wrong path is an error even if the command does not use it.
    preset = presets.read(start, flag) if start else None
    if checkpoint_steps(folder) or (not config.do_train and find_best(folder)):
        return presets.read(folder, "--output_dir")
    return preset


def resolve_hub(config: Any) -> Any:
    """Downloads the models of the hub that flags name (hf://OWNER/NAME).

    Returns the flags with the folders of the downloads instead. Other inputs,
    such as exports, are never downloaded.

    Raises:
        ValueError, OSError: as `hub.download` raises them.
    """
    found = {
        flag.flag: hub.download(flag.value)
        for flag in flags.path_flags(config)
        if flag.flag in _WEIGHTS and flag.value.startswith(hub.SCHEME)
    }
    return dataclasses.replace(config, **found) if found else config


def resolve_data_file(config: Any) -> Any:
    """Sets the flags of the common job, if --data_file is set.

    The values of flags that the user set are not changed.

    Raises:
        ValueError: --data_dir is set too.
    """
    if not config.data_file:
        return config
    found, given = vars(config), config.given_flags
    if found["data_dir"]:
        raise ValueError("set either --data_file or --data_dir, not both")
    common: dict[str, Any] = {
        "do_train": True,
        "do_eval": True,
        "evaluate_each_epoch": True,
        "keep_optimizer": False,
        "keep_checkpoint_max": 1,
        "report": found.get("task_name") != "embedding",
        "export_dir": f"{found['output_dir'].rstrip('/')}_model",
    }
    if "task_name" in found:
        common["task_name"] = found["task_name"] or "csv"
    changes = {k: v for k, v in common.items() if k not in given}
    return dataclasses.replace(config, **changes)


def resolve(config: Flags, preset: Preset | None) -> Flags:
    """Sets the flags that the user did not set to the values in a folder.

    The network, the vocabulary and the casing come from the folder. The
    settings of the head are only used if the command does not train.

    Args:
        config: the parsed flags.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: a required flag is not set, and the folder does not state
            it. Or flags contradict each other, the folder or the run.
    """
    trains, weights = False, preset.weights if preset else None
    if isinstance(config, TrainingConfig) and config.do_train:
        # Exports and copies contain the weights that this run trains.
        trains, weights = True, config.output_dir
    if preset and (not trains or preset.is_resumed):
        preset.check_head(config.head)
    found = _stated_flags(config, preset, trains) if preset else {}
    config = dataclasses.replace(config, weights=weights, **found)
    if missing := [n for n in config.required if vars(config)[n] is None]:
        if preset:
            # Fail here if the path does not exist or contains no weights, such
            # as the path of an export.
            modeling.find_checkpoint(preset.weights)
        names = [f"--{name}" for name in missing]
        if not preset and "bert_config_file" in missing:
            both = "--bert_config_file and --vocab_file"
            start = f"--init_checkpoint (or {both}, for random weights)"
            names = [start, *(name for name in names if name not in both)]
        if "task_name" in missing:
            task = "--data_file (or --task_name and --data_dir)"
            names = [*(x for x in names if x != "--task_name"), task]
        raise ValueError(f"missing required flags: {', '.join(names)}")
    config.check()
    if isinstance(config, TrainingConfig) and not (preset or trains):
        raise ValueError(
            f"no checkpoint in --output_dir={config.output_dir} and no "
            "--init_checkpoint: train first, or set --init_checkpoint"
        )
    if isinstance(config, TrainingConfig) and trains:
        check_resumed(config, preset)
    return config


# Returns {flag: value in the folder} of the flags that are not set.
def _stated_flags(
    config: ModelConfig, preset: Preset, trains: bool
) -> dict[str, Any]:
    stated = {
        **({} if trains else {**preset.settings, **preset.network}),
        "labels": None if trains else preset.labels,
        "left_to_right": preset.network["left_to_right"],
        "bert_config_file": preset.config_file,
        "vocab_file": preset.vocab_file,
        "do_lower_case": preset.do_lower_case,
    }
    if preset.is_resumed and "data_file" in config.given_flags:
        # The run chose these values to suit its data.
        recorded = preset.training.get("flags", {})
        chosen = ("max_seq_length", "num_train_epochs")
        stated |= {name: recorded.get(name) for name in chosen}
    return {
        name: stated[name]
        for name in flags.unset(config) & stated.keys()
        if stated[name] is not None
    }


def check_export(config: ExportConfig) -> None:
    """Checks the flags of an export, before any slow work.

    Raises:
        ValueError: flags contradict each other, or a format is unknown or needs
            a package that is not installed.
    """
    for name in ("export_format", "quantize"):
        if vars(config)[name] and config.export_dir is None:
            raise ValueError(f"--{name} needs --export_dir")
    names = config.export_formats
    if unknown := [name for name in names if name not in _FORMATS]:
        raise ValueError(
            f"--export_format={config.export_format}: {unknown[0]!r} is not a "
            f"format; choose from {', '.join(_FORMATS)}"
        )
    if config.quantize and names == ("saved_model",):
        raise ValueError(
            f"--quantize={config.quantize} is not for --export_format="
            "saved_model; set --export_format=litert or onnx"
        )
    # ONNX Runtime contains the quantizer.
    needed = ["onnx", *(["onnxruntime"] if config.quantize else [])]
    missing = [name for name in needed if not importlib.util.find_spec(name)]
    if "onnx" in names and missing:
        raise ValueError(
            f"--export_format=onnx needs {' and '.join(missing)}: "
            "pip install -r requirements/onnx.txt"
        )
