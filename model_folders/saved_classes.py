"""The classes that a `.keras` file may name.

One file may name classes of both packages: a model that reads strings contains
a layer of `data.text`. So each package registers the classes of both, by
dependencies/registration.py. `data` does not import `modeling` by that. Only
Keras does, when it loads a file that names a class of `modeling`.
"""

from model_folders.kinds import KIND_OF_CLASS, ModelClass

# {name of a class in `modeling`: its module}. `modeling` offers these names.
MODULE_OF_MODELING_CLASS: dict[str, str] = {
    **dict.fromkeys(KIND_OF_CLASS, "modeling.task_models"),
    ModelClass.ENCODER: "modeling.bert",
    "ClassifierLoss": "modeling.losses",
    "ContrastiveLoss": "modeling.losses",
    "CosineLoss": "modeling.losses",
    "MultiLabelLoss": "modeling.losses",
    "PretrainingLoss": "modeling.losses",
    "RankingLoss": "modeling.losses",
    "RegressionLoss": "modeling.losses",
    "SpanLoss": "modeling.losses",
    "TokenLoss": "modeling.losses",
}
# {name of a class that a `.keras` file may name: its module}. Registering them
# imports no module yet.
MODULE_OF_SAVED_CLASS = MODULE_OF_MODELING_CLASS | {
    "BertTextClassifierPreprocessor": "data.text.preprocessor",
}
