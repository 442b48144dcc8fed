"""Downloads the models that flags name. Imports no TensorFlow."""

from command_line import config_values, flags
from model_folders import hub


def download_flags(config: flags.ConfigT, *names: str) -> flags.ConfigT:
    """Returns flags with folders of downloads for hf://OWNER/NAME.

    Args:
        config: the flags of a script.
        names: names of the flags that may name a model of the hub. Other
            inputs, such as exports, are never downloaded.

    Raises:
        ValueError, OSError: as `hub.download` raises them.
    """
    values = config_values.values_of(config)
    folders = {
        name: hub.download(values[name])
        for name in names
        if values[name] and values[name].startswith(hub.SCHEME)
    }
    return config_values.replace(config, **folders)
