"""Shows how to call an exported model, in Python and on the command line."""

import dataclasses
import shlex
from collections.abc import Sequence
from typing import Final

from model_folders.head_settings import HeadSettings
from model_folders.kinds import ModelClass


@dataclasses.dataclass(frozen=True)
class ExampleCall:
    """A call of an exported model, with texts as a user may pass them.

    Attributes:
        method: method of the model that `serving.load` returns.
        texts: arguments of the method.
        passages: last argument of the method, a list of texts. It may be empty.
    """

    method: str
    texts: tuple[str, ...]
    passages: tuple[str, ...] = ()

    def format_python(self) -> str:
        """Returns the call in Python, such as `embed("A text.")`."""
        arguments = [f'"{text}"' for text in self.texts]
        if self.passages:
            passages = ", ".join(f'"{text}"' for text in self.passages)
            arguments.append(f"[{passages}]")
        return f"{self.method}({', '.join(arguments)})"

    def format_arguments(self) -> str:
        """Returns the arguments of predict.py for the same call."""
        arguments = [f'"{text}"' for text in (*self.texts, *self.passages)]
        if self.method == "rerank":
            # Without the flag, predict.py asks a classifier for labels.
            arguments.insert(0, "--task=rerank")
        return " ".join(arguments)

    def input_texts(self) -> tuple[str, ...]:
        """Returns the text, or the pair of texts, that the network reads."""
        return (*self.texts, *self.passages[:1])


# {class of a model: a call of its export}. The exports of other classes read no
# texts.
EXAMPLE_OF_CLASS: Final[dict[ModelClass, ExampleCall]] = {
    ModelClass.CLASSIFIER: ExampleCall("classify", ("A text.",)),
    ModelClass.EMBEDDER: ExampleCall("embed", ("A text.",)),
    ModelClass.ENCODER: ExampleCall("embed", ("A text.",)),
    ModelClass.PRETRAINER: ExampleCall("fill_mask", ("The [MASK] is blue.",)),
    ModelClass.SPAN_LABELER: ExampleCall("answer", ("Who came?", "Ann came.")),
    ModelClass.TOKEN_CLASSIFIER: ExampleCall("tag", ("Ann came.",)),
}
_PAIR_EXAMPLE = ExampleCall("classify", ("A text.", "A second text."))
_RANKING_EXAMPLE = ExampleCall(
    "rerank", ("A query.",), ("A passage.", "A second passage.")
)


def choose_example(
    model_class: str | None, head_settings: HeadSettings
) -> ExampleCall | None:
    """Returns a call of a model, None if the model reads no texts.

    Args:
        model_class: class of the model, which may be a user's own, None if
            unknown.
        head_settings: settings of the model's head.
    """
    if head_settings.get("task_name") == "ranking":
        return _RANKING_EXAMPLE
    if model_class not in EXAMPLE_OF_CLASS:
        return None
    example = EXAMPLE_OF_CLASS[ModelClass(model_class)]
    if example.method == "classify" and head_settings.get("num_texts") == 2:
        return _PAIR_EXAMPLE
    return example


def list_example_commands(
    model_class: str | None,
    head_settings: HeadSettings,
    export: str | None,
    table: str | None = None,
) -> Sequence[str]:
    """Returns commands that ask an exported model, [] if there is none.

    Args:
        model_class: class of the model, which may be a user's own, None if
            unknown.
        head_settings: settings of the model's head.
        export: folder of the export, or None.
        table: file that the model was trained on, if it is a single table.
    """
    example = choose_example(model_class, head_settings)
    if not (export and example):
        return []
    model = f"--model={shlex.quote(export)}"
    lines = [f"python predict.py {model} {example.format_arguments()}"]
    is_tagger = model_class == ModelClass.TOKEN_CLASSIFIER
    # Entities are lists, and columns of words and tags contain no texts.
    if table and (not is_tagger or table.endswith(".jsonl")):
        answers = f"answers.{'jsonl' if is_tagger else 'csv'}"
        files = f"--input_file={shlex.quote(table)} --output_file={answers}"
        lines.append(f"python predict.py {model} {files}")
    return [*lines, f"python serve.py {model}"]
