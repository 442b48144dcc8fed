"""What a run and an export record of a classifier."""

from collections.abc import Mapping

from data.classification.classification_sets import (
    ClassificationSets,
)
from model_folders.model_json_types import ClassifierSettings, HeadSettings


def create_classifier_settings(
    task_name: str,
    classification_sets: ClassificationSets,
    *,
    labels: list[str] | None,
    num_texts: int | None,
    class_weights: Mapping[str, float],
) -> ClassifierSettings:
    """Returns `Task.settings` of a classifier.

    `ClassifierTask` documents the arguments.
    """
    settings: ClassifierSettings = {
        "task_name": task_name,
        "output_mode": classification_sets.output_mode,
        "labels": labels,
        # With 1, the export rejects a second text.
        "num_texts": num_texts,
        **classification_sets.settings,
    }
    if class_weights:
        settings["class_weights"] = class_weights
    return settings


def create_export_settings(
    classification_sets: ClassificationSets, doc_stride: int
) -> HeadSettings:
    """Returns `Task.export_settings` of a classifier.

    Args:
        classification_sets: tell the kind of labels.
        doc_stride: WordPieces between the starts of two windows, 0 without
            windows.
    """
    is_regression = classification_sets.output_mode == "regression"
    if is_regression and classification_sets.may_be_cross_encoder:
        return {"doc_stride": doc_stride, "num_texts": None}
    return {"doc_stride": doc_stride}
