"""Creates the model.json of a copy or an export of weights.

It says of the original what the model.json beside the original says, without
what is only true of the original's folder.
"""

from typing import cast

from model_folders.head_settings import HeadSettings, TaskEntry
from model_folders.model_json import (
    CHECKSUMS,
    ModelJson,
    create_contents,
    provenance_of,
)
from model_folders.reading import hub
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettingsEntry

# Entries about the files in the folder of the original.
_ENTRIES_ABOUT_FILES = ("best_step", "files", CHECKSUMS)


def create_model_json_of_copy(
    preset: Preset | None,
    model_class: str,
    head_settings: HeadSettings | None = None,
    *,
    step: int | None = None,
    extends_vocab: bool = False,
) -> ModelJson:
    """Returns the contents of model.json for a copy or an export of weights.

    Args:
        preset: Preset of the folder that the weights come from. None if the
            weights are random.
        model_class: class of the model that is copied or exported.
        head_settings: settings of the head to add to those in `preset`.
        step: training step at which the weights were saved, None if unknown.
        extends_vocab: whether the copy has a longer vocabulary, so that the
            recorded configuration and tokenizer are not its own.
    """
    preset = preset or Preset("")
    # A dict with only some entries of a TypedDict of settings is of this type
    # too.
    task_entry = {
        **preset.head_settings,
        "name": model_class,
        **(head_settings or {}),
    }
    provenance = provenance_of(preset.model_json).copy()
    kept_settings = provenance.get("settings", TrainingSettingsEntry()).copy()
    if extends_vocab:
        kept_settings.pop("bert_config", None)
        kept_settings.pop("tokenizer", None)
    provenance["settings"] = kept_settings
    if source := hub.hub_path_of(preset.folder):
        provenance["weights"] = source
    if step is not None:
        provenance["step"] = step
    others = {
        name: value
        for name, value in preset.model_json.items()
        if name not in _ENTRIES_ABOUT_FILES
    }
    contents = create_contents(cast("TaskEntry", task_entry), provenance)
    return cast("ModelJson", {**others, **contents})
