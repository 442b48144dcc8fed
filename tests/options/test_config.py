"""The base class of the options of a script."""

import pytest

from options.config import Config
from options.fields import group
from tests.support.flag_groups import Loop, Windows


def test_a_flag_of_two_groups_is_refused():
    with pytest.raises(TypeError, match=r"\['length'\] .* several groups"):

        class Twice(Config):
            loop: Loop = group(Loop)
            windows: Windows = group(Windows)
