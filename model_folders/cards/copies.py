"""Creates model.json and README.md of a copy or an export of weights.

Both say what is known of the original. They contain names and checksums of
input files, but no folders, no names of machines and no texts of examples.
"""

import copy
import json
from collections.abc import Sequence
from typing import cast

from model_folders import model_json
from model_folders.cards import model_card
from model_folders.model_json import (
    HeadSettings,
    ModelJson,
    Provenance,
    TrainingSettings,
)
from model_folders.reading import hub
from model_folders.reading.preset import Preset


def create_copy_files(card: model_card.Card) -> dict[str, str]:
    """Returns {file: text} of model.json and README.md for a copy of weights.

    `card.model_json` is the result of `create_model_json_of_copy`.
    """
    return {
        model_json.MODEL_JSON_FILE: format_json(card.model_json),
        model_card.CARD_FILE: card.text(),
    }


def create_model_json_of_copy(
    preset: Preset | None,
    model_class: str,
    head_settings: HeadSettings | None = None,
    *,
    step: int | None = None,
    changed: Sequence[str] = (),
) -> ModelJson:
    """Returns the contents of model.json for a copy or an export of weights.

    Args:
        preset: Preset of the folder that the weights come from. None if the
            weights are random.
        model_class: class of the model that is copied or exported.
        head_settings: settings of the head to add to those in `preset`.
        step: training step at which the weights were saved, None if unknown.
        changed: names of settings in `preset` that no longer apply to the
            copy.
    """
    preset = preset or Preset("")
    contents = copy.deepcopy(preset.model_json)
    contents = contents or {"version": model_json.VERSION}
    # A dict with only some entries of a TypedDict of settings is of this type
    # too.
    task_entry = {
        **preset.head_settings,
        "name": model_class,
        **(head_settings or {}),
    }
    contents[model_json.HEAD_SETTINGS] = cast("HeadSettings", task_entry)
    provenance = contents.setdefault(model_json.PROVENANCE, Provenance())
    kept = {
        name: value
        for name, value in preset.training_settings.items()
        if name not in changed
    }
    provenance["settings"] = cast("TrainingSettings", kept)
    if source := hub.hub_path_of(preset.path):
        provenance["weights"] = source
    if step is not None:
        provenance["step"] = step
    # These entries are about the files in the folder of `preset`.
    contents.pop("best_step", None)
    contents.pop("files", None)
    contents.pop(model_json.CHECKSUMS, None)
    return contents


def format_json(contents: ModelJson) -> str:
    """Returns the text of a model.json."""
    return json.dumps(contents, indent=2) + "\n"
