"""Removes the partial files that killed processes left of their outputs.

They have the exact name of an output and `.partial-NUMBER` after it.
"""

import os

from files import manifests, run_files
from files.atomic import is_remote, remove_partial
from files.paths import Kind, PathFlag

# What a checkpoint adds to the name of its partial files.
_CHECKPOINT = r"\.(index|data-00000-of-00001)(\.tempstate[0-9]+)?"
# Files whose partial name is a folder while a model is written.
_STAGED = ("model.safetensors", "bert_model.ckpt.index")


def remove(flag: PathFlag) -> None:
    """Removes what killed processes left of an output.

    Args:
        flag: a path that the command writes, locked if it needs a lock.
    """
    if flag.kind is Kind.RUN_FOLDER:
        run_files.remove_partial_files(flag.value)
    if flag.kind is Kind.MODEL_OUTPUT and not is_remote(flag.value):
        if flag.is_prefix:
            folder, name = os.path.split(flag.value)
            remove_partial(folder or ".", name.__eq__, _CHECKPOINT)
        else:
            names = {*manifests.MODEL_FILES, manifests.WEIGHTS}
            remove_partial(flag.value, names.__contains__, folders=_STAGED)
    if flag.kind in (Kind.OUTPUT_FILE, Kind.OUTPUT_FILES):
        for path in flag.parts:
            if not is_remote(path):
                # Written next to the target of a link.
                folder, name = os.path.split(os.path.realpath(path))
                remove_partial(folder, name.__eq__, is_locked=False)
