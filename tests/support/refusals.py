"""Runs commands that a script must refuse.

For example:

    cases = [("--learning_rate=-1", "--learning_rate", "-1")]
    check_refusals(tmp_path, "run_squad.py", flags, cases)
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from files.paths import StrPath
from tests.support.output_files import snapshot
from tests.support.script_runner import Flags, parse_flags, run


def check_refusals(
    folder: Path, script: StrPath, flags: Flags, cases: Iterable[Sequence[str]]
) -> None:
    """Runs commands that must fail with one line, and change no file.

    Args:
        folder: folder to run the commands in.
        script: the script.
        flags: valid flags of the script.
        cases: tuples of the flags to change, as "--name=value ...", and texts
            that the error message must contain.
    """
    before = snapshot(folder)
    # Of all cases, so that the first wrong one does not hide the others.
    wrong = []
    for text, *parts in cases:
        error = run(script, folder, **flags | parse_flags(text)).error
        lost = [part for part in parts if part not in error]
        if lost:
            wrong.append(f"{text}: {lost} not in: {error}")
    assert not wrong, "\n".join(wrong)
    after = snapshot(folder)
    names = {*before, *after}
    assert not [one for one in names if before.get(one) != after.get(one)]
