"""Short sequences are packed where they fit first.

tests/modeling/test_row_layouts.py compares the outputs with those of a batch
that is not packed.
"""

import pytest

from modeling import packing, row_layouts
from tests.support.models import as_lists, integers


@pytest.mark.backends
def test_short_sequences_are_packed_into_a_long_one():
    # "a b c" and "d e", and a row of padding.
    plan = packing.plan_packing(
        integers([0, 1, 2, 6, 7, 3]), integers([3, 2]), capacity=6
    )
    assert as_lists(plan) == packing.PackingPlan(
        row_layouts.RowMap(
            shape=(1, 6),
            positions=[0, 1, 2, 3, 4, 0],
            row_numbers=[1, 2, 3, 4, 5, 0],
            spare=0,
        ),
        is_padding=[False] * 5 + [True],
        sequence_numbers=[[1, 1, 1, 2, 2, 0]],
    )


@pytest.mark.backends
@pytest.mark.parametrize(
    ("lengths", "packed", "offsets", "num_packed"),
    [
        ([3, 2, 6, 1], [1, 1, 0, 1], [0, 3, 0, 5], 2),
        ([6, 6], [0, 1], [0, 0], 2),
        # A batch of padding alone has one packed sequence, too.
        ([0, 0], [0, 0], [0, 0], 1),
    ],
)
def test_each_sequence_goes_where_it_fits_first(
    lengths, packed, offsets, num_packed
):
    fit = packing.pack_by_first_fit(integers(lengths), capacity=6)
    assert as_lists(fit) == packing.FirstFit(packed, offsets, num_packed)
