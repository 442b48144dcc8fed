"""Defines what text tasks read of a loaded export, such as its tokenizer."""

import dataclasses

from data.text.tokenization import FullTokenizer
from model_folders.model_json_types import HeadSettings
from serving.engines import Engine, PackedInput, pad_batch


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """An export in memory, with all that text tasks read of it.

    A `TextModel` contains it, and adds the tasks, with a method for each.

    Attributes:
        engine: the engine that runs the network.
        tokenizer: tokenizer of the model.
        max_seq_length: maximum number of WordPieces in an input.
        needs_padding: whether all inputs are padded to `max_seq_length`.
        settings: settings of the head, with its labels.
    """

    engine: Engine
    tokenizer: FullTokenizer
    max_seq_length: int
    needs_padding: bool
    settings: HeadSettings

    @property
    def labels(self) -> list[str]:
        """Names of the network's outputs, [] if they have no names."""
        return [*(self.settings.get("labels") or ())]

    def warm_up(self) -> None:
        """Runs the network once for each length to which inputs are padded.

        The first run with inputs of a new length is slow, because the engine
        allocates memory or compiles the network.
        """
        for length in self.engine.lengths(
            self.max_seq_length, needs_padding=self.needs_padding
        ):
            padding = PackedInput([0] * length, length)
            self.engine.run(pad_batch([padding], length))


def create_loaded_model(
    engine: Engine, tokenizer: FullTokenizer, settings: HeadSettings
) -> LoadedModel:
    """Returns a model whose inputs are as long as its engine accepts.

    Args:
        engine: engine that runs the network.
        tokenizer: tokenizer of the model.
        settings: settings of the head. In the settings of the returned model,
            `max_seq_length` is at most the length of the engine's inputs, if
            this length is fixed.
    """
    fixed = engine.inputs["input_ids"][-1]
    max_seq_length = min(filter(None, (settings["max_seq_length"], fixed)))
    return LoadedModel(
        engine=engine,
        tokenizer=tokenizer,
        max_seq_length=max_seq_length,
        # Google's script pads the windows of SQuAD, and padding is a candidate
        # for an answer.
        needs_padding=settings.get("trim_padding") is False,
        settings={**settings, "max_seq_length": max_seq_length},
    )
