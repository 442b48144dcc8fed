"""Names the checkpoints of a run, and finds the one to use in a folder."""

import os
import re
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from absl import logging

from files.paths import StrPath
from model_folders import model_json
from model_folders.model_json import ModelJson

# Which step to read of the folder of a training run. "reported" is the best or
# the last step, as the run's flag --load_best says.
RunStep: TypeAlias = Literal["reported", "best", "last"]

# Folder in the folder of a run that contains the weights of the best step.
BEST_FOLDER = "best"
# The name of a run's checkpoint is this prefix, a hyphen and the step.
CHECKPOINT_PREFIX = "model.ckpt"
# {what the weights are, and what to do: pattern of the names of their files and
# folders}, for weights that are not read.
_PATTERN_OF_UNREAD_WEIGHTS = {
    "weights of Flax. Convert them with transformers 4 (from_flax=True) to "
    "model.safetensors": r"flax_model.*\.msgpack(\.index\.json)?",
    "a part of a checkpoint of DeepSpeed. Merge its parts into "
    "pytorch_model.bin with DeepSpeed's zero_to_fp32.py, and put it beside "
    "config.json": r"global_step\d+|(zero_pp|mp)_rank_\d+.*|zero_to_fp32\.py",
    "a file of torch whose contents depend on a program. Save the state_dict "
    "of its BERT as pytorch_model.bin, beside config.json": (
        r"(?!optimizer|scheduler|training_args).+\.(pt|pth|ckpt|bin)"
    ),
}


def list_checkpoint_steps(folder: StrPath) -> list[int]:
    """Returns the steps of complete checkpoints in a folder, oldest first."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    pattern = re.compile(rf"{CHECKPOINT_PREFIX}-(0|[1-9][0-9]*)\.index")
    matches = map(pattern.fullmatch, names)
    return sorted(int(match[1]) for match in matches if match)


def find_tf1_checkpoint(
    path: StrPath,
    run_step: RunStep = "reported",
    contents: ModelJson | None = None,
) -> str:
    """Returns the prefix of the checkpoint that `path` names or contains.

    In the folder of a training run, this is by default the step that the run
    reports: the best step, which model.json names, or with --noload_best, or if
    there is no best step, the last step. In any other folder, it is the newest
    checkpoint that the file named `checkpoint` lists, else the only checkpoint
    in the folder. If the file `checkpoint` lists a path outside of its folder,
    the function looks for the same name in the folder, because the folder may
    have been moved.

    Args:
        path: prefix of a checkpoint, or a folder.
        run_step: which step of a run: the step that the run reports, the best
            step, or the last step. Without a best step, the last step.
        contents: entries of the folder's model.json. If None, the function
            reads the file.

    Raises:
        FileNotFoundError: the checkpoint does not exist.
        ValueError: `run_step` is not a RunStep.
    """
    if run_step not in get_args(RunStep):
        choices = ", ".join(get_args(RunStep))
        raise ValueError(f"run_step={run_step!r} must be one of {choices}")
    path = str(path)
    if os.path.isdir(path):
        if contents is None:
            contents = model_json.read_model_json(path)
        if run_step == "reported":
            head_settings = model_json.head_settings_of(contents)
            loads_best = head_settings.get("load_best", True)
        else:
            loads_best = run_step == "best"
        prefix = find_best_checkpoint(path, contents) if loads_best else None
        return prefix or _find_newest_checkpoint(path)
    if not os.path.exists(f"{path}.index"):
        if os.path.isfile(path):
            _check_other_libraries(*os.path.split(path))
        raise FileNotFoundError(
            f"There is no checkpoint {path}: no file is {path}.index"
        )
    return path


def find_best_checkpoint(
    folder: StrPath, contents: ModelJson | None = None
) -> str | None:
    """Returns the checkpoint of a run's best step, None without a best step.

    A run that was killed may have saved its best step, but no later checkpoint.
    The best step is then None, because the run repeats it. Logs a warning if
    the best step was saved, but its checkpoint is missing.

    Args:
        folder: folder of the run.
        contents: entries of the folder's model.json. If None, the function
            reads the file.
    """
    if contents is None:
        contents = model_json.read_model_json(folder)
    step = contents.get("best_step")
    steps = list_checkpoint_steps(folder)
    if step is None or (steps and steps[-1] < step):
        return None
    for checkpoint_folder in (os.path.join(folder, BEST_FOLDER), str(folder)):
        prefix = os.path.join(checkpoint_folder, f"{CHECKPOINT_PREFIX}-{step}")
        if os.path.isfile(f"{prefix}.index"):
            return prefix
    logging.warning(
        "The run's best step, %d, is missing in %s; using the last step.",
        step,
        folder,
    )
    return None


def _find_newest_checkpoint(path: str) -> str:
    """Returns the newest checkpoint of a folder, as `find_tf1_checkpoint`."""
    names = sorted(os.listdir(path))
    listing = Path(path, "checkpoint")
    text = listing.read_text(errors="replace") if listing.is_file() else ""
    # The recorded path may contain Windows's path separators.
    newest = r'^model_checkpoint_path: "(?:.*[/\\])?(.+)"'
    for name in re.findall(newest, text, re.M):
        if f"{name}.index" in names:
            return os.path.join(path, name)
    # Skip the files ._NAME that macOS creates beside each file.
    indices = re.findall(r"^[^.].*(?=\.index$)", "\n".join(names), re.M)
    if "saved_model.pb" in names and not indices:
        raise ValueError(f"{path} is an export; set the folder of its weights")
    if not indices:
        _check_other_libraries(path, *names)
    if len(indices) != 1:
        raise FileNotFoundError(
            f"The folder {path} must contain exactly one checkpoint: a "
            "NAME.index with NAME.data-*, model.safetensors or "
            f"pytorch_model.bin. Found: {', '.join(indices or names)[:200]}"
        )
    return os.path.join(path, indices[0])


def _check_other_libraries(folder: str, *names: str) -> None:
    """Raises a ValueError if a name is one of another library's weights."""
    for explanation, pattern in _PATTERN_OF_UNREAD_WEIGHTS.items():
        for name in names:
            if re.fullmatch(pattern, name):
                path = os.path.join(folder, name)
                raise ValueError(f"{path} is {explanation}")
