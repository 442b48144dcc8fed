"""The classes that a `.keras` file may name.

One file may name classes of both packages: a model that reads strings contains
a layer of `data.text`. So each package registers the classes of both, by
imports/registration.py. `data` does not import `modeling` by that. Only Keras
does, when it loads a file that names a class of `modeling`.
"""

# {package: its modules that define such classes}.
SAVED_MODULES_OF_PACKAGE = {
    "modeling": ("modeling.bert", "modeling.losses", "modeling.task_models"),
    "data.text": ("data.text.preprocessor",),
}
