"""The rows of the benchmark fit its contestants and its flags."""

import ast

import pytest
from absl import flags as absl_flags

from benchmarks import model_benchmark
from benchmarks.rows import ROWS
from tests.support.paths import ROOT

CONTESTANTS = ROOT / "benchmarks/contestants"


def functions_of(contestant):
    """Returns the functions of a module, which may need another library."""
    text = (CONTESTANTS / f"{contestant}.py").read_text(encoding="utf-8")
    return {
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }


def test_each_row_has_a_name_of_its_own():
    names = [row.name for row in ROWS]
    assert len({*names}) == len(names)


@pytest.mark.parametrize(
    ("contestant", "work"),
    [(name, row.work) for row in ROWS for name in row.variants],
)
def test_each_contestant_of_a_row_does_its_work(contestant, work):
    assert work in functions_of(contestant)


def test_the_flags_that_rows_need_are_defined():
    names = {name for row in ROWS for name in row.needs}
    values = absl_flags.FlagValues()
    model_benchmark.define_flags(values)
    assert names <= {*values}
