"""A command to record, as plain data.

Each command runs in a folder of its own name, beside the folder `inputs` and
the folders of the other commands. So `../mrpc/run` is a run that the command
`mrpc` made, and all paths are the same wherever the recording is.
"""

import dataclasses
import re
import shlex

ALL_FORMATS = "--export_format=saved_model,litert,onnx"


@dataclasses.dataclass(frozen=True)
class Command:
    """A command to record.

    Attributes:
        name: name of the command and of its folder.
        text: the arguments of Python.
        prints: True if its standard output must stay, such as the answers of
            predict.py. Otherwise these are messages, whose words may change.
        status: exit status of the command.
        stop_at: file at whose creation SIGTERM stops the command, if any. What
            the command leaves is not compared, because it stops at any step.
        resumes: name of the command whose folder this one begins with.
        requests: file of requests to the server that the command starts, whose
            replies go to replies.jsonl.
    """

    name: str
    text: str
    prints: bool = False
    status: int = 0
    stop_at: str | None = None
    resumes: str | None = None
    requests: str | None = None

    @property
    def arguments(self) -> list[str]:
        return shlex.split(self.text)

    @property
    def needs(self) -> list[str]:
        """Names of the commands that must run before this one."""
        names_in_text = re.findall(r"\.\./([\w.-]+)", self.text)
        names = dict.fromkeys([*names_in_text, self.resumes])
        return [name for name in names if name and name != "inputs"]
