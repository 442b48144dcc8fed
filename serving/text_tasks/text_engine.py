"""An engine, and what text tasks must know of its export."""

import dataclasses
from typing import NamedTuple

from data.squad.squad_options import (
    DecodingOptions,
    WindowOptions,
    parse_options,
)
from data.text.tokenization import FullTokenizer
from model_folders import kinds, output_modes
from model_folders.kinds import ModelClass
from model_folders.model_json_types import HeadSettings
from model_folders.output_modes import OutputMode
from serving.engines import BatchLimits, Engine, ids_outputs


class AnswerSetup(NamedTuple):
    """How a span labeler answers.

    Attributes:
        windows: how it cuts a passage into windows.
        decoding: how it chooses answers.
    """

    windows: WindowOptions
    decoding: DecodingOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class TextEngine:
    """Holds the engine of an export, with all that text tasks read beside it.

    Except for `warm_up`, only text tasks run the engine. The settings of the
    head are attributes here, so that a text task reads no setting that an
    export may lack.

    Attributes:
        engine: the engine that runs the network.
        tokenizer: tokenizer of the model.
        max_seq_length: maximum number of WordPieces in an input.
        trims_padding: whether inputs are padded no further than their batch
            needs. If False, all are padded to `max_seq_length`.
        labels: names of the network's outputs, [] if they have no names.
        output_mode: what the labels of a classifier are.
        num_texts: 1 if the model was trained on single texts, 2 on pairs, None
            if it is unknown.
        doc_stride: WordPieces between the starts of the windows of a text, 0 if
            the model reads a text in one input.
        chooses_legal_tags: whether a token classifier chooses the best legal
            sequence of tags, or each tag independently.
        answer_setup: how a span labeler answers, None for other models.
    """

    engine: Engine
    tokenizer: FullTokenizer
    max_seq_length: int
    trims_padding: bool = True
    labels: list[str] = dataclasses.field(default_factory=list)
    output_mode: OutputMode = output_modes.CLASSIFICATION
    num_texts: int | None = None
    doc_stride: int = 0
    chooses_legal_tags: bool = False
    answer_setup: AnswerSetup | None = None

    @property
    def accepts_pairs(self) -> bool:
        """Whether the model may have been trained on pairs of texts.

        Models that read a text in windows read no pairs.
        """
        return self.num_texts != 1 and not self.doc_stride

    @property
    def required_answer_setup(self) -> AnswerSetup:
        """How a span labeler answers.

        Raises:
            TypeError: the model is no span labeler, so the text task `answer`
                is not for it.
        """
        if self.answer_setup is None:
            raise TypeError("only a span labeler has options of answers")
        return self.answer_setup

    def batch_limits(self, values_per_token: int = 1) -> BatchLimits:
        """Returns the limits of the engine's batches for this model.

        `values_per_token` is the number of values that the network outputs for
        each WordPiece.
        """
        return self.engine.batch_limits(
            self.max_seq_length,
            trims_padding=self.trims_padding,
            values_per_token=values_per_token,
        )


def create_text_engine(
    engine: Engine,
    tokenizer: FullTokenizer,
    model_class: ModelClass,
    head_settings: HeadSettings,
) -> TextEngine:
    """Returns a TextEngine whose inputs are as long as its engine accepts.

    Args:
        engine: engine that runs the network.
        tokenizer: tokenizer of the model.
        model_class: class of the model.
        head_settings: settings of the head, which `check_head_settings` has
            checked. If the length of the engine's inputs is fixed,
            `max_seq_length` of the TextEngine is at most this length.

    Raises:
        ValueError: the inputs are too short for the windows of a span labeler.
    """
    fixed = engine.inputs["input_ids"][-1]
    max_seq_length = min(filter(None, (head_settings["max_seq_length"], fixed)))
    answer_setup = None
    if model_class == kinds.SPAN_LABELER:
        answer_setup = _read_answer_setup(head_settings, max_seq_length)
    return TextEngine(
        engine=engine,
        tokenizer=tokenizer,
        max_seq_length=max_seq_length,
        # Google's script pads the windows of SQuAD, and padding is a candidate
        # for an answer.
        trims_padding=head_settings.get("trim_padding") is not False,
        labels=[*(head_settings.get("labels") or ())],
        output_mode=ids_outputs.output_mode_of(head_settings),
        num_texts=head_settings.get("num_texts"),
        doc_stride=head_settings.get("doc_stride", 0),
        # An export without this setting chooses each tag independently.
        chooses_legal_tags=bool(head_settings.get("legal_tags")),
        answer_setup=answer_setup,
    )


def _read_answer_setup(
    head_settings: HeadSettings, max_seq_length: int
) -> AnswerSetup:
    """Returns how a span labeler answers, from the settings of its head."""
    return AnswerSetup(
        windows=parse_options(
            WindowOptions, {**head_settings, "max_seq_length": max_seq_length}
        ),
        decoding=parse_options(DecodingOptions, head_settings),
    )
