"""The first fix of docs/contributing.md, on a copy of the code.

Its test fails as the page says, and passes with the change.
"""

import re
import textwrap
import types

import pytest

from tests.support.paths import ROOT
from tests.support.source_files import blocks

PAGE = (ROOT / "docs/contributing.md").read_text(encoding="utf-8")


def section_of(title):
    """Returns the part of the page below a heading."""
    return re.split(rf"^##+ {title}\n", PAGE, flags=re.M)[1].split("\n## ")[0]


def module_of(code):
    """Returns a module with some code, which no other code imports."""
    module = types.ModuleType("copy_of_a_module")
    exec(code, module.__dict__)
    return module


def test_the_first_fix_makes_its_test_pass():
    section = section_of("A first fix in five minutes")
    [test_code] = blocks(section, "py")
    [test_name] = re.findall(r"def (\w+)", test_code)
    test_file = re.search(r"Say at the end of `(\S+)`", section)[1]
    file, entry, names = re.search(
        r"In `(\S+)`, add `(.+?)` to `(\w+)`", section
    ).groups()
    code = (ROOT / file).read_text(encoding="utf-8")
    fixed = re.sub(
        rf"^{names} = \(\n", rf"\g<0>    {entry}\n", code, flags=re.M
    )
    tests = (ROOT / test_file).read_text(encoding="utf-8")
    test_module = module_of(tests + textwrap.dedent(test_code))
    run_test = getattr(test_module, test_name)
    test_module.column_names = module_of(code)
    with pytest.raises(AssertionError):
        run_test()
    test_module.column_names = module_of(fixed)
    run_test()
