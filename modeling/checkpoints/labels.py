"""What stands beside weights: the names of outputs, in order, and copies."""

import os
import shutil

from modeling.config import read_json_object

LABELS_FILE = "labels.txt"


def load_labels(path):
    """Returns the labels that stand beside a checkpoint.

    Args:
        path: a folder, the prefix of a TF1 checkpoint in it, or a
            `.safetensors` file in it.

    Returns:
        list of str: the lines of `labels.txt`, else `id2label` of a Hugging
        Face `config.json`; None where there is neither, or nothing but the
        names LABEL_0, LABEL_1, ... that it has for outputs without a name.

    Raises:
        ValueError: the config.json's labels are not numbered from 0.
    """
    path = str(path)
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    labels_file = os.path.join(folder, LABELS_FILE)
    if os.path.isfile(labels_file):
        with open(labels_file, encoding="utf-8", newline="\n") as reader:
            return reader.read().removesuffix("\n").split("\n")
    config_file = os.path.join(folder, "config.json")
    if not os.path.isfile(config_file):
        return None
    names = read_json_object(config_file).get("id2label")
    if names is None:
        return None
    try:
        labels = [names[str(index)] for index in range(len(names))]
    except (KeyError, TypeError):
        raise ValueError(
            f'{config_file}: `id2label` must name the labels from "0" on. '
            f"Received: {names}"
        ) from None
    if labels == [f"LABEL_{index}" for index in range(len(labels))]:
        return None
    return labels


def save_labels(directory, labels):
    """Writes `labels.txt`, a label a line; it appears whole or not at all.

    Raises:
        ValueError: a label spans lines.
        OSError: the file cannot be written.
    """
    for label in labels:
        if "\n" in label:
            raise ValueError(f"a label must stand in one line: {label!r}")
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, LABELS_FILE)
    with open(f"{path}.partial", "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{label}\n" for label in labels)
    os.replace(f"{path}.partial", path)


def copy_file(source, destination):
    """Copies a file; it appears whole or not at all, or is there already.

    Raises:
        OSError: the file cannot be read, or not be written.
    """
    if os.path.exists(destination) and os.path.samefile(source, destination):
        return
    shutil.copyfile(source, f"{destination}.partial")
    os.replace(f"{destination}.partial", destination)
