"""Defines how the rows of an input are answered."""

import dataclasses
from collections.abc import Collection, Sequence


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Options of answering rows, and of the columns of the output.

    Attributes:
        batch_size: number of requests in a batch.
        sorts: whether to read thousands of requests at once, and to sort them
            by length. False answers each batch as soon as it is read.
        output_fields: names of the fields of a reply to keep, () for all.
        has_checked_fields: whether it was checked that replies have these
            fields. Otherwise, `answer_rows` checks the first reply.
        keeps_columns: whether to keep the columns of the input.
        taken_names: names of columns of the input, if all rows were read
            before. A field of a reply that has such a name is renamed in all
            rows.
    """

    batch_size: int = 32
    sorts: bool = False
    output_fields: Sequence[str] = ()
    has_checked_fields: bool = False
    keeps_columns: bool = True
    taken_names: Collection[str] = ()
