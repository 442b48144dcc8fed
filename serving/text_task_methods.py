"""The methods of `serving.TextModel`, one for each text task."""

import abc
from typing import TypeAlias, overload

from serving.text_tasks.answer import ANSWER, AnswerReply
from serving.text_tasks.classify import (
    CLASSIFY,
    RERANK,
    ClassifyReply,
    RerankReply,
)
from serving.text_tasks.embed import EMBED, EmbedReply
from serving.text_tasks.pretrained import (
    FILL_MASK,
    NEXT_SENTENCE,
    FillMaskReply,
    NextSentenceReply,
)
from serving.text_tasks.tag import TAG, TagReply
from serving.text_tasks.text_task import (
    DEFAULT_REPLY_OPTIONS,
    ContextT,
    HeadT,
    ReplyOptions,
    ReplyT,
    RequestT,
    TextList,
    Texts,
    TextTask,
)
from serving.text_tasks.tokenize import TOKENIZE, TokenizeReply

# A dict for one text, a list of dicts for a list of texts. The overloads of a
# method tell a type checker which of the two types a call returns.
Replies: TypeAlias = ReplyT | list[ReplyT]


class TextTaskMethods(abc.ABC):
    """Asks a model about texts, with a method for each text task.

    The types describe the replies to texts that are not empty.
    """

    @abc.abstractmethod
    def _ask(
        self,
        text_task: TextTask[HeadT, RequestT, ContextT, ReplyT],
        reply_options: ReplyOptions = DEFAULT_REPLY_OPTIONS,
        **fields: Texts,
    ) -> Replies[ReplyT]:
        """Returns the reply to a text, or the replies to several.

        `fields` is {field of a request: one or several texts}. `text_task` has
        the name of the text task and the type of its reply. The model may have
        its own version of the text task.
        """

    @overload
    def classify(
        self, text_a: str, text_b: str = "", min_probability: float = 0.0
    ) -> ClassifyReply: ...
    @overload
    def classify(
        self,
        text_a: TextList,
        text_b: Texts = "",
        min_probability: float = 0.0,
    ) -> list[ClassifyReply]: ...
    @overload
    def classify(
        self, text_a: Texts, text_b: TextList, min_probability: float = 0.0
    ) -> list[ClassifyReply]: ...
    def classify(
        self, text_a: Texts, text_b: Texts = "", min_probability: float = 0.0
    ) -> Replies[ClassifyReply]:
        """Returns {"label", "probabilities"}, or {"value"} in regression.

        Args:
            text_a: one or several texts.
            text_b: second text of each pair, or "" for no pairs.
            min_probability: if every probability is lower, "label" is None.
        """
        reply_options = ReplyOptions(min_probability=min_probability)
        return self._ask(CLASSIFY, reply_options, text_a=text_a, text_b=text_b)

    @overload
    def answer(
        self, question: str, context: str, n_best: int = 1
    ) -> AnswerReply: ...
    @overload
    def answer(
        self, question: TextList, context: Texts, n_best: int = 1
    ) -> list[AnswerReply]: ...
    @overload
    def answer(
        self, question: Texts, context: TextList, n_best: int = 1
    ) -> list[AnswerReply]: ...
    def answer(
        self, question: Texts, context: Texts, n_best: int = 1
    ) -> Replies[AnswerReply]:
        """Returns {"answer", "probability", "start", "end", ...}.

        Other keys are "start_byte", "end_byte" and "null_odds": the score of
        "no answer" minus the score of the best answer.

        Args:
            question: one or several questions.
            context: one passage for all questions, or one for each question.
            n_best: maximum number of answers in "n_best". 1 omits "n_best".
        """
        reply_options = ReplyOptions(n_best=n_best)
        return self._ask(
            ANSWER, reply_options, question=question, context=context
        )

    @overload
    def tag(self, text: str) -> TagReply: ...
    @overload
    def tag(self, text: TextList) -> list[TagReply]: ...
    def tag(self, text: Texts) -> Replies[TagReply]:
        """Splits a text into words, and tags them.

        Returns {"words", "tags", "probabilities", "spans", "entities", ...}.
        `spans` are the words' positions, [start, end].
        """
        return self._ask(TAG, text=text)

    @overload
    def fill_mask(self, text: str, top_k: int = 5) -> FillMaskReply: ...
    @overload
    def fill_mask(
        self, text: TextList, top_k: int = 5
    ) -> list[FillMaskReply]: ...
    def fill_mask(self, text: Texts, top_k: int = 5) -> Replies[FillMaskReply]:
        """Returns {"masks"}: the top_k most probable WordPieces per [MASK]."""
        return self._ask(FILL_MASK, ReplyOptions(top_k=top_k), text=text)

    @overload
    def next_sentence(self, text_a: str, text_b: str) -> NextSentenceReply: ...
    @overload
    def next_sentence(
        self, text_a: TextList, text_b: Texts
    ) -> list[NextSentenceReply]: ...
    @overload
    def next_sentence(
        self, text_a: Texts, text_b: TextList
    ) -> list[NextSentenceReply]: ...
    def next_sentence(
        self, text_a: Texts, text_b: Texts
    ) -> Replies[NextSentenceReply]:
        """Returns the "probability" that text_b follows text_a, in a dict."""
        return self._ask(NEXT_SENTENCE, text_a=text_a, text_b=text_b)

    @overload
    def embed(self, text: str, tokens: bool = False) -> EmbedReply: ...
    @overload
    def embed(
        self, text: TextList, tokens: bool = False
    ) -> list[EmbedReply]: ...
    def embed(self, text: Texts, tokens: bool = False) -> Replies[EmbedReply]:
        """Returns vectors of a text: {"pooled", "mean", "mean_normalized"}.

        To compare two texts, use the dot product of their "mean_normalized",
        which is the cosine. "pooled" is the vector that BERT's classification
        heads read.

        Args:
            text: one or several texts.
            tokens: True to also return "tokens", and in "sequence" one vector
                per token.
        """
        return self._ask(EMBED, ReplyOptions(tokens=tokens), text=text)

    @overload
    def rerank(self, query: str, passages: TextList) -> RerankReply: ...
    @overload
    def rerank(
        self, query: TextList, passages: TextList
    ) -> list[RerankReply]: ...
    def rerank(self, query: Texts, passages: TextList) -> Replies[RerankReply]:
        """Returns {"ranking": list of {"index", "score"}}, best passage first.

        "index" is the position of the passage in `passages`.
        """
        return self._ask(RERANK, query=query, passages=passages)

    @overload
    def tokenize(self, text_a: str, text_b: str = "") -> TokenizeReply: ...
    @overload
    def tokenize(
        self, text_a: TextList, text_b: Texts = ""
    ) -> list[TokenizeReply]: ...
    @overload
    def tokenize(
        self, text_a: Texts, text_b: TextList
    ) -> list[TokenizeReply]: ...
    def tokenize(
        self, text_a: Texts, text_b: Texts = ""
    ) -> Replies[TokenizeReply]:
        """Returns {"tokens", "num_wordpieces"}.

        "tokens" are cut at the maximum length. "num_wordpieces" is the number
        of WordPieces before the cut.
        """
        return self._ask(TOKENIZE, text_a=text_a, text_b=text_b)
