"""Returns the values of flags that the folder of the weights states.

A command uses them for the flags that the user did not set.
"""

from model_folders.reading.presets import Preset


def identity_flags_of(preset: Preset) -> dict[str, str | bool | None]:
    """Returns {flag: value, None if unknown} that the weights determine."""
    return {
        "left_to_right": preset.network["left_to_right"],
        "bert_config_file": preset.config_file,
        "vocab_file": preset.vocab_file,
        "do_lower_case": preset.do_lower_case,
    }


def decision_flags_of(preset: Preset) -> dict[str, bool | None]:
    """Returns {flag: recorded value} for a command that does not train.

    These flags are of the training, but a command that evaluates, predicts or
    exports the trained model must decide the same.
    """
    recorded = preset.recorded_settings.get("flags", {})
    # The copy of a model may state it with the settings of the head.
    trim_padding = preset.head_settings.get("trim_padding")
    return {"trim_padding": recorded.get("trim_padding", trim_padding)}
