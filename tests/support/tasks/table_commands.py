"""Runs the commands of a user who fine-tunes on a table of texts.

For example:

    commands = Commands(tmp_path, model_flags)
    write_table(tmp_path / "table.csv", read_topics())
    commands.train("run", dev_fraction=0.3)
    done = commands.evaluate(dev_fraction=0.5)
"""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from files.json_files import JsonObject
from model_folders.model_json import read_model_json
from tests.support import script_runner
from tests.support.fresh_process import ProcessResult
from tests.support.log_lines import printed_warnings
from tests.support.script_runner import Flags
from tests.support.tables import labeled_tables
from tests.support.tables.csv_files import write_csv


def read_topics() -> list[tuple[str, str]]:
    """Returns the texts and the labels of a small table."""
    return labeled_tables.read_topics()[:90]


def write_table(path: Path, rows: Iterable[tuple[str, str]]) -> None:
    """Writes a table of texts and labels."""
    write_csv(path, ("text", "label"), rows)


class Commands:
    """The commands of a user in a folder, on its table.csv unless told.

    Attributes:
        folder: the folder, in which all paths of the flags are.
    """

    def __init__(self, folder: Path, model_flags: Flags) -> None:
        self.folder = folder
        self._model_flags = model_flags

    def copied_to(self, folder: Path) -> "Commands":
        """Returns the commands in a copy of the folder."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Commands(folder, self._model_flags)

    def train(
        self, output_dir: str, *, data_file: str = "table.csv", **flags: object
    ) -> ProcessResult:
        """Trains for one epoch, and exports to OUTPUT_DIR_model."""
        return self._run(
            output_dir=output_dir,
            export_dir=f"{output_dir}_model",
            data_file=data_file,
            num_train_epochs=1,
            report=False,
            **self._model_flags | flags,
        ).check()

    def train_on_sets(
        self, output_dir: str, *, data_dir: str, **flags: object
    ) -> ProcessResult:
        """Trains for one epoch on sets that the user cut."""
        return self._run(
            output_dir=output_dir,
            data_dir=data_dir,
            task_name="csv",
            do_train=True,
            max_seq_length=32,
            num_train_epochs=1,
            **self._model_flags | flags,
        ).check()

    def resume(self, **flags: object) -> ProcessResult:
        """Runs the command that trained `run` again."""
        return self._run(
            output_dir="run",
            data_file="table.csv",
            seed=1,
            num_train_epochs=1,
            **self._model_flags | flags,
        )

    def evaluate(
        self,
        output_dir: str = "run",
        *,
        data_file: str = "table.csv",
        **flags: object,
    ) -> ProcessResult:
        """Evaluates on a table, and trains nothing."""
        return self._run(
            output_dir=output_dir, data_file=data_file, do_train=False, **flags
        )

    def evaluate_set(self, data_dir: str) -> ProcessResult:
        """Evaluates `run` on the dev set in a folder, and trains nothing."""
        return self._run(
            output_dir="run", data_dir=data_dir, do_train=False, do_eval=True
        )

    def _run(self, **flags: Any) -> ProcessResult:
        return script_runner.run("run_classifier.py", self.folder, **flags)


def read_recorded_split(folder: Path) -> JsonObject:
    """Returns the rule of the dev set that a run recorded."""
    described = read_model_json(folder)
    return {**described["origin"]["settings"]["split"]}


def list_doubt_warnings(done: ProcessResult) -> list[str]:
    """Returns the warnings that rows may have been trained on."""
    text = "may have been trained on"
    return [line for line in printed_warnings(done) if text in line]
