r"""The paper's evaluation of a released model, its figures next to yours.

    python recipes/released-model.py --model=uncased_L-24_H-1024_A-16 \
        --glue=GLUE --squad=SQUAD --triviaqa=TRIVIAQA --swag=SWAG \
        --cased_model=cased_L-24_H-1024_A-16 --ner=CONLL --output=output/paper

Each part runs where its data is given. Finished folders are skipped, so the
same command resumes after a stop; what another command made is refused. Flags
after `--` are added to each command that runs a model, such as `--
--mixed_precision=bfloat16`. The table is printed, and written to results.md.
GLUE's site scores the test set predictions in glue/TASK/best-SETTING, of the
setting in that table.
"""

import itertools
import shlex
import statistics
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import runs
from released_model_flags import GLUE_FOLDERS, parse

# Found because `runs` adds the project's folder to the path.
from data.classification import glue
from files.atomic import write_text

# By task: its metrics, by the first of which a setting is chosen, each with the
# paper's figures of BERT-Base and BERT-Large on the test set (table 1).
GLUE = {
    "mnli": {"eval_accuracy": (84.6, 86.7), "accuracy_mm": (83.4, 85.9)},
    "qqp": {"f1": (71.2, 72.1)},
    "qnli": {"accuracy": (90.5, 92.7)},
    "sst-2": {"accuracy": (93.5, 94.9)},
    "cola": {"matthews": (52.1, 60.5)},
    "sts-b": {"spearman": (85.8, 86.5)},
    "mrpc": {"f1": (88.9, 89.3)},
    "rte": {"accuracy": (66.4, 70.1)},
}
# The mean of these figures.
AVERAGE = (79.6, 82.1)


class PaperEvaluation:
    """Runs the commands of one evaluation, and collects its table.

    Args:
        options: those of `parse`.
        only_checks: whether nothing runs; earlier results are checked.
    """

    def __init__(self, options: Namespace, only_checks: bool = False) -> None:
        self.options = options
        self.only_checks = only_checks
        # Outputs that were not whole when this began.
        self.unfinished: set[str] = set()
        self.rows: list[tuple[str, ...]] = []

    def run_parts(self) -> None:
        """Runs the parts whose data is given."""
        options = self.options
        if options.glue:
            self.glue()
        if options.squad:
            self.squad()
            if options.print or (options.squad / "train-v2.0.json").exists():
                self.squad2()
        if options.swag:
            self.swag()
        if options.ner:
            self.ner()

    def run(self, script: str, output: str, **flags: object) -> Path:
        """Runs a script, unless its output is whole; returns that path.

        Raises:
            SystemExit: it failed; or another command has made the output, or
                it was made from one that has to be made again.
        """
        path = done = self.options.output / output
        if script.startswith("run_"):
            done = path / "eval_results.txt"
            if "do_train" in flags:
                flags["keep_checkpoint_max"] = 1
            if "glue_submission" in flags:
                done = path / last_submission(str(flags["task_name"]))
            flags |= {**self.options.more, "output_dir": path}
        else:
            flags["output_file"] = path
        command = [script, *runs.arguments(flags)]
        if self.options.print:
            print(shlex.join(["python", *command]))
            return path
        record = path.with_name(f"{path.name}.command.txt")
        check_command(path, record, command)
        values = (str(each).split(",") for each in flags.values())
        inputs = {*itertools.chain(*values)} - {str(path)}
        stale = inputs & self.unfinished
        if stale and path.exists():
            sys.exit(
                f"error: {path} was made from {min(stale)}, which is not whole "
                f"any more; remove {path} to make it again"
            )
        if not done.exists():
            self.unfinished.add(str(path))
        if not (self.only_checks or done.exists()):
            write_text(record, "\n".join(command) + "\n")
            runs.run(script, path.with_name(f"{path.name}.log"), flags)
        return path

    def model(self, folder: Path, start: Path | None = None) -> dict:
        """Returns the flags of a model, started from another run's weights."""
        return {
            "bert_config_file": f"{folder}/bert_config.json",
            "vocab_file": f"{folder}/vocab.txt",
            "init_checkpoint": start or f"{folder}/bert_model.ckpt",
        }

    def figure(self, folder: Path, name: str) -> float:
        """Returns a figure of a run; 0 if there is none yet."""
        results = folder / "eval_results.txt"
        if self.options.print or (self.only_checks and not results.exists()):
            return 0.0
        (figure,) = runs.read_results(results, name)
        return figure

    def report(
        self, name: str, setting: str, value: float, *paper: object
    ) -> None:
        """Adds a row to the table, and writes it."""
        self.rows.append(
            (name, setting, f"{value:.1f}", *(str(each) for each in paper))
        )
        if not (self.options.print or self.only_checks):
            write_text(self.options.output / "results.md", self.table())

    def table(self) -> str:
        """Returns the table as Markdown."""
        head = ("", "setting", "dev, here", "paper, Base", "paper, Large")
        return runs.markdown_table(head, self.rows)

    def glue(self) -> None:
        """Tries the grid of appendix A.3 and keeps the best on the dev set."""
        options = self.options
        values = []
        for task, metrics in GLUE.items():
            folder = GLUE_FOLDERS[task]
            data_dir = options.glue / folder
            if not (options.print or data_dir.is_dir()):
                continue
            flags = {
                **self.model(options.model),
                "task_name": task,
                "data_dir": data_dir,
                "max_seq_length": 128,
            }
            found = {}
            for batch, rate, epochs in itertools.product(
                options.batches, options.rates, options.epochs
            ):
                run = self.run(
                    "run_classifier.py",
                    f"glue/{task}/{batch}-{rate}-{epochs}",
                    **flags,
                    do_train=True,
                    do_eval=True,
                    train_batch_size=batch,
                    learning_rate=rate,
                    num_train_epochs=epochs,
                )
                setting = f"{batch} x {rate}, {epochs} epochs"
                found[run] = self.figure(run, next(iter(metrics))), setting
            best = max(found, key=lambda run: found[run][0])
            # The submission for the benchmark's site. Which is the best is not
            # known before all have run.
            for run in found if self.only_checks else [best]:
                self.run(
                    "run_classifier.py",
                    f"glue/{task}/best-{run.name}",
                    **flags | {"init_checkpoint": run},
                    do_predict=True,
                    glue_submission=True,
                )
            for metric, paper in metrics.items():
                values.append(100 * self.figure(best, metric))
                note = [f"{figure} (test)" for figure in paper]
                row = f"{folder}, {metric}"
                self.report(row, found[best][1], values[-1], *note)
        if len(values) == sum(map(len, GLUE.values())):
            note = [f"{figure} (test)" for figure in AVERAGE]
            self.report("GLUE, average", "", statistics.mean(values), *note)

    def squad(self) -> None:
        """SQuAD v1.1, also after TriviaQA if given, and as an ensemble."""
        options = self.options
        flags = {
            "train_file": f"{options.squad}/train-v1.1.json",
            "predict_file": f"{options.squad}/dev-v1.1.json",
            "do_predict": True,
        }
        training = {
            "do_train": True,
            "train_batch_size": 32,
            "learning_rate": 5e-5,
            "num_train_epochs": 3,
        }
        start = None
        if options.triviaqa:
            start = self.triviaqa(training)
        members = [
            self.run(
                "run_squad.py",
                f"squad/seed_{seed}",
                **self.model(options.model, start),
                **flags,
                **training,
                seed=seed,
            )
            for seed in range(1, options.ensemble + 1)
        ]
        model = self.model(options.model)
        del model["init_checkpoint"], flags["train_file"]
        ensemble = self.run(
            "run_squad.py",
            f"squad/ensemble_of_{len(members)}",
            **model,
            **flags,
            ensemble=",".join(map(str, members)),
        )
        single = (
            ("-", "84.2 / 91.1") if start else ("80.8 / 88.5", "84.1 / 90.9")
        )
        several = ("-", "86.2 / 92.2" if start else "85.8 / 91.8")
        name = "SQuAD v1.1 after TriviaQA" if start else "SQuAD v1.1"
        for run, setting, paper in (
            (members[0], "single", single),
            (ensemble, f"ensemble of {len(members)}", several),
        ):
            exact = self.figure(run, "exact_match")
            self.report(
                f"{name}, F1",
                f"{setting}; EM {exact:.1f}",
                self.figure(run, "f1"),
                *(f"EM / F1 {each}" for each in paper),
            )

    def triviaqa(self, training: dict) -> Path:
        """Fine-tunes on TriviaQA's Wikipedia documents; returns the run."""
        options = self.options
        train_file = self.run(
            "create_squad_from_triviaqa.py",
            "triviaqa.json",
            input_file=f"{options.triviaqa}/qa/wikipedia-train.json",
            evidence_dir=f"{options.triviaqa}/evidence",
        )
        return self.run(
            "run_squad.py",
            "triviaqa",
            **self.model(options.model),
            # The paper does not say for how long.
            **training | {"num_train_epochs": 1},
            train_file=train_file,
            # This also shows the score on SQuAD after TriviaQA alone.
            predict_file=f"{options.squad}/dev-v1.1.json",
            do_predict=True,
        )

    def squad2(self) -> None:
        """SQuAD v2.0: the best threshold on the dev set, as in the paper."""
        run = self.run(
            "run_squad.py",
            "squad2",
            **self.model(self.options.model),
            train_file=f"{self.options.squad}/train-v2.0.json",
            predict_file=f"{self.options.squad}/dev-v2.0.json",
            version_2_with_negative=True,
            do_train=True,
            do_predict=True,
            train_batch_size=48,
            learning_rate=5e-5,
            num_train_epochs=2,
        )
        exact = self.figure(run, "best_exact")
        self.report(
            "SQuAD v2.0, F1",
            f"single; EM {exact:.1f}",
            self.figure(run, "best_f1"),
            "-",
            "EM / F1 78.7 / 81.9",
        )

    def single(
        self,
        task: str,
        model: Path,
        row: str,
        figure: str,
        paper: tuple[float, float],
        **flags: object,
    ) -> None:
        """Fine-tunes once on the data of --TASK by run_TASK.py."""
        run = self.run(
            f"run_{task}.py",
            task,
            **self.model(model),
            data_dir=getattr(self.options, task),
            do_train=True,
            do_eval=True,
            **flags,
        )
        self.report(row, "single", 100 * self.figure(run, figure), *paper)

    def swag(self) -> None:
        """SWAG: which of four endings."""
        self.single(
            "swag",
            self.options.model,
            "SWAG, accuracy",
            "eval_accuracy",
            (81.6, 86.6),
            train_batch_size=16,
            learning_rate=2e-5,
            num_train_epochs=3,
        )

    def ner(self) -> None:
        """CoNLL-2003, with a cased model."""
        self.single(
            "ner",
            self.options.cased_model,
            "CoNLL-2003, F1",
            "f1",
            (96.4, 96.6),
            do_lower_case=False,
            train_batch_size=32,
            learning_rate=5e-5,
            num_train_epochs=4,
        )


def last_submission(task: str) -> str:
    """Returns GLUE's file that predicting a task writes last."""
    return glue.submission_file("mnli-mm" if task == "mnli" else task)


def check_command(path: Path, record: Path, command: Sequence[str]) -> None:
    """Refuses what another command has made, or has begun to make.

    Args:
        path: the file or folder that is made.
        record: file with the arguments of the command that made it, a line
            each.
        command: the arguments that these must be, in any order.

    Raises:
        SystemExit: they are not.
    """
    if not path.exists():
        return
    why = f"there is no {record}"
    if record.exists():
        before = record.read_text("utf-8").splitlines()
        differing = sorted({*before} ^ {*command})
        if not differing:
            return
        why = f"{record} differs in {shlex.join(differing)}"
    sys.exit(
        f"error: {path} was made by another command ({why}); give another "
        "--output"
    )


def main(arguments: list[str]) -> None:
    """Runs the parts whose data is given."""
    options = parse(arguments, __doc__)
    if not options.print:
        # All of it, before the first long command.
        PaperEvaluation(options, only_checks=True).run_parts()
    evaluation = PaperEvaluation(options)
    evaluation.run_parts()
    if not options.print:
        print(evaluation.table(), end="")


if __name__ == "__main__":
    runs.main(lambda: main(sys.argv[1:]))
