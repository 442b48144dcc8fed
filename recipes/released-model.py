"""The paper's evaluation of a released model, its figures next to yours.

    python recipes/released-model.py --model=uncased_L-24_H-1024_A-16 \
        --glue=GLUE --squad=SQUAD --triviaqa=TRIVIAQA --swag=SWAG \
        --cased_model=cased_L-24_H-1024_A-16 --ner=CONLL --output=output/paper

Each part runs where its data is given. Finished folders are skipped, so the
same command resumes after a stop. `--print` only prints the commands. Arguments
after `--` are added to each command that runs a model, such as `--
--mixed_precision=bfloat16`. The table is printed, and written to results.md.
GLUE's site scores the test set predictions in glue/TASK/best.
"""

import argparse
import itertools
import os
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from training.command_line import child  # noqa: E402

# By task: the folder of the benchmark's download, the metric, and the paper's
# figures of BERT-Base and BERT-Large on the test set (table 1).
GLUE = {
    "mnli": ("MNLI", "eval_accuracy", 84.6, 86.7),
    "qqp": ("QQP", "f1", 71.2, 72.1),
    "qnli": ("QNLI", "accuracy", 90.5, 92.7),
    "sst-2": ("SST-2", "accuracy", 93.5, 94.9),
    "cola": ("CoLA", "matthews", 52.1, 60.5),
    "sts-b": ("STS-B", "spearman", 85.8, 86.5),
    "mrpc": ("MRPC", "f1", 88.9, 89.3),
    "rte": ("RTE", "accuracy", 66.4, 70.1),
}


class PaperEvaluation:
    """Runs the commands of one evaluation, and collects its table."""

    def __init__(self, options: argparse.Namespace, more: list[str]) -> None:
        self.options = options
        self.more = more
        self.rows: list[tuple[str, ...]] = []

    def run(self, script: str, output: str, **flags: object) -> Path:
        """Runs a script, unless its output exists; returns that path."""
        path = Path(self.options.output, output)
        is_task = script.startswith("run_")
        done = path / "eval_results.txt" if is_task else path
        arguments = [f"--{name}={value}" for name, value in flags.items()]
        if is_task:
            arguments += [f"--output_dir={path}", *self.more]
        else:
            arguments.append(f"--output_file={path}")
        print(shlex.join(["python", script, *arguments]), flush=True)
        if not self.options.print and not done.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            command = [sys.executable, str(ROOT / script), *arguments]
            if status := child.run(command):
                # The script has printed its error.
                sys.exit(status)
        return path

    def model(self, folder: str, start: Path | None = None) -> dict:
        """Returns the flags of a model, started from another run's weights."""
        return {
            "bert_config_file": f"{folder}/bert_config.json",
            "vocab_file": f"{folder}/vocab.txt",
            "init_checkpoint": start or f"{folder}/bert_model.ckpt",
        }

    def figure(self, folder: Path, name: str) -> float:
        """Returns a figure of a run; 0 if commands are only printed."""
        if self.options.print:
            return 0.0
        lines = (folder / "eval_results.txt").read_text().splitlines()
        return float(dict(line.split(" = ") for line in lines)[name])

    def report(
        self, name: str, setting: str, value: float, *paper: object
    ) -> None:
        """Adds a row to the table, and writes it."""
        self.rows.append(
            (name, setting, f"{value:.1f}", *(str(each) for each in paper))
        )
        if not self.options.print:
            Path(self.options.output, "results.md").write_text(self.table())

    def table(self) -> str:
        """Returns the table as Markdown."""
        head = ("", "setting", "dev, here", "paper, Base", "paper, Large")
        lines = [head, ("---",) * len(head), *self.rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def glue(self) -> None:
        """Tries the grid of appendix A.3 and keeps the best on the dev set."""
        options = self.options
        for task, (folder, metric, *paper) in GLUE.items():
            data_dir = Path(options.glue, folder)
            if not data_dir.is_dir():
                continue
            flags = {
                **self.model(options.model),
                "task_name": task,
                "data_dir": data_dir,
                "max_seq_length": 128,
                "do_eval": True,
            }
            found = {}
            for batch, rate, epochs in itertools.product(
                options.batches, options.rates, options.epochs
            ):
                setting = f"{batch} x {rate}, {epochs} epochs"
                run = self.run(
                    "run_classifier.py",
                    f"glue/{task}/{batch}-{rate}-{epochs}",
                    **flags,
                    do_train=True,
                    train_batch_size=batch,
                    learning_rate=rate,
                    num_train_epochs=epochs,
                )
                found[self.figure(run, metric), setting] = run
            value, setting = max(found)
            # The submission for the benchmark's site.
            self.run(
                "run_classifier.py",
                f"glue/{task}/best",
                **flags | {"init_checkpoint": found[value, setting]},
                do_predict=True,
                glue_submission=True,
            )
            note = [f"{figure} (test)" for figure in paper]
            self.report(f"{folder}, {metric}", setting, 100 * value, *note)

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
            "squad/ensemble",
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
        model: str,
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


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Returns the options, and the arguments after `--`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )

    def numbers(text: str) -> list[str]:
        return text.split(",")

    add = parser.add_argument
    add("--model", required=True, help="folder of the released model")
    add("--cased_model", help="folder of the cased one, for named entities")
    add("--output", required=True, help="folder for all that is made")
    add("--glue", help="folder with MNLI, QQP, ... as GLUE has them")
    add("--squad", help="folder with train-v1.1.json, dev-v2.0.json, ...")
    add("--triviaqa", help="folder with qa and evidence")
    add("--swag", help="folder with train.csv and val.csv")
    add("--ner", help="folder with train.txt and dev.txt")
    add("--batches", type=numbers, default="16,32")
    add("--rates", type=numbers, default="5e-5,3e-5,2e-5")
    add("--epochs", type=numbers, default="3,4")
    add("--ensemble", type=int, default=7, help="seeds of SQuAD v1.1")
    add("--print", action="store_true", help="print the commands only")
    own, more = arguments, []
    if "--" in arguments:
        place = arguments.index("--")
        own, more = arguments[:place], arguments[place + 1 :]
    options = parser.parse_args(own)
    if not options.output.strip():
        parser.error("--output is empty (was a shell variable not set?)")
    if options.ner and not options.cased_model:
        parser.error("--ner needs --cased_model")
    if options.triviaqa and not options.squad:
        parser.error("--triviaqa needs --squad")
    if options.ensemble < 2:
        parser.error("--ensemble is 2 or more")
    return options, more


def main(arguments: list[str]) -> None:
    """Runs the parts whose data is given."""
    options, more = parse(arguments)
    evaluation = PaperEvaluation(options, more)
    if options.glue:
        evaluation.glue()
    if options.squad:
        evaluation.squad()
        if options.print or os.path.exists(f"{options.squad}/train-v2.0.json"):
            evaluation.squad2()
    if options.swag:
        evaluation.swag()
    if options.ner:
        evaluation.ner()
    if not options.print:
        print(evaluation.table(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
