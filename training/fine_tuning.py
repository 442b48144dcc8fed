"""What the fine-tuning scripts share besides a Run; no task is named here.

A figure that decides (for early stopping, for the best of several runs) is
always one of which more is better.
"""

import os
from pathlib import Path

import numpy as np
from absl import logging

import modeling
from training import checkpointing, export, runner


def evaluates_while_training(options):
    """Returns whether the flags ask for an evaluation after each epoch."""
    return options.do_train and (
        options.evaluate_each_epoch or options.early_stopping_patience > 0
    )


def needs_dev_set(options):
    """Returns whether the flags ask for any evaluation."""
    return (
        options.do_eval
        or evaluates_while_training(options)
        or (options.do_train and options.num_train_runs > 1)
    )


def check_flags(options):
    """Refuses contradictory flags before any long work.

    Returns:
        BertConfig of the model.

    Raises:
        ValueError: a flag does not fit another, or what stands in a folder.
        OSError: a file is not there, or an output has no place.
    """
    runner.check_tasks(
        options,
        ("do_train", "do_eval", "do_predict", "export_dir", "export_weights"),
    )
    _check_num_train_runs(options)
    if options.export_dir:
        export.check_export_dir(options.export_dir)
    return runner.load_config(options, options.max_seq_length)


def _check_num_train_runs(options):
    """Refuses to mix one run and several in a folder."""
    if not options.do_train:
        return
    folder = Path(options.output_dir)
    if options.num_train_runs > 1:
        if (folder / checkpointing.SETTINGS_FILE).is_file():
            raise ValueError(
                f"--output_dir={folder} holds a single run; give another one "
                f"for --num_train_runs={options.num_train_runs}"
            )
    elif (folder / "run_1").is_dir():
        raise ValueError(
            f"--output_dir={folder} holds several runs; give "
            "--num_train_runs to go on with them, or another --output_dir"
        )


def train_and_evaluate(
    options,
    create_run,
    create_dataset,
    num_examples,
    evaluate,
    metric,
    label_list=None,
    describe_batch=None,
):
    """Trains as the flags say, once or several times, and evaluates.

    Of several runs, number n stands in the folder `run_n` of --output_dir,
    has the seed --seed + n - 1, and goes on like any other run. The best
    one's weights are put into --output_dir itself, and its figures are
    written with, of each one, `NAME_mean` and `NAME_deviation` (of the
    sample) over the runs, and `best_run`.

    Args:
        options: the script's flag values; its `output_dir` and `seed` are
            those of a run while it lasts.
        create_run: () -> runner.Run by `options`.
        create_dataset: (batch_size, skip_records) -> batches to train on.
        num_examples: examples in an epoch.
        evaluate: (run) -> {name: figure}.
        metric: the figure that decides.
        label_list: list of str to keep beside the checkpoints, or None.
        describe_batch: see runner.Run.train.

    Returns:
        the run, the best of several.
    """

    def save_labels(run, *folders):
        if label_list and run.is_chief:
            for folder in (options.output_dir, *folders):
                modeling.save_labels(folder, label_list)

    def trained_run():
        run = create_run()
        if options.do_train:
            # The best weights of a run are a model of their own.
            best = [run.best_dir] if evaluates_while_training(options) else []
            save_labels(run, *best)
            train(
                run,
                create_dataset,
                num_examples,
                lambda: evaluate(run),
                metric,
                describe_batch,
            )
        return run

    if options.do_train and options.num_train_runs > 1:
        run, results = _best_run(options, trained_run, evaluate, metric)
        save_labels(run)
        run.write_results("eval_results.txt", results)
        return run
    run = trained_run()
    if options.do_eval:
        run.write_results("eval_results.txt", evaluate(run))
    return run


def train(
    run, create_dataset, num_examples, evaluate, metric, describe_batch=None
):
    """Trains from where the run stands, evaluating as its flags say.

    Args:
        run: runner.Run.
        create_dataset: (batch_size, skip_records) -> batches, for Run.train.
        num_examples: examples in an epoch.
        evaluate: () -> {name: figure}.
        metric: the figure that decides.
        describe_batch: see Run.train.
    """
    options, evaluation = run.options, None
    if evaluates_while_training(options):
        evaluation = run.create_evaluation(
            evaluate,
            max(num_examples // run.batch_size, 1),
            metric,
            patience=options.early_stopping_patience,
        )
    run.train(create_dataset, describe_batch, evaluation)
    if options.early_stopping_patience:
        run.restore_best()


def _best_run(options, trained_run, evaluate, metric):
    """Makes --num_train_runs runs; returns the best, and all runs' figures."""
    output_dir, seed = options.output_dir, options.seed
    numbers = range(1, options.num_train_runs + 1)

    def make(number):
        options.output_dir = os.path.join(output_dir, f"run_{number}")
        options.seed = seed + number - 1
        return trained_run()

    try:
        results = []
        for number in numbers:
            logging.info("***** Run %d of %d *****", number, numbers[-1])
            run = make(number)
            results.append(evaluate(run))
            run.write_results("eval_results.txt", results[-1])
            run.write_summary()
        best = max(numbers, key=lambda number: results[number - 1][metric])
        if best != numbers[-1]:
            run = make(best)
    finally:
        options.output_dir, options.seed = output_dir, seed
    _keep_weights(run, output_dir)
    summary = results[best - 1] | {"best_run": best}
    for name in results[0].keys() - {"global_step"}:
        figures = [figures[name] for figures in results]
        summary[f"{name}_mean"] = float(np.mean(figures))
        summary[f"{name}_deviation"] = float(np.std(figures, ddof=1))
    return run, summary


def _keep_weights(run, output_dir):
    """Makes a run's weights the only checkpoint of a folder."""
    if run.is_chief:
        for file in Path(output_dir).glob(f"{checkpointing.PREFIX}-*"):
            file.unlink()
    checkpointing.Checkpointer(
        output_dir,
        modeling.named_variables(run.model),
        is_chief=run.is_chief,
    ).save(run.global_step)


def collect_outputs(run, dataset, num_examples, batch_size):
    """Predicts a set with labels, and takes the original's figures of it.

    Args:
        run: runner.Run whose loss has an `example_loss`.
        dataset: its batches.
        num_examples: examples in it.
        batch_size: examples in a batch.

    Returns:
        `label_ids` and outputs of all examples, arrays, and a dict of
        `eval_loss` (mean over examples), `loss` (mean over batches) and
        `global_step`.
    """
    labels, outputs, example_losses, batch_losses = [], [], [], []
    for features, output in run.trainer.predict(
        dataset, -(-num_examples // batch_size), "Evaluating"
    ):
        batch_loss = np.asarray(run.trainer.loss.example_loss(output, features))
        labels.append(features["label_ids"])
        outputs.append(output)
        example_losses.append(batch_loss)
        batch_losses.append(np.mean(batch_loss))
    return (
        np.concatenate(labels),
        np.concatenate(outputs),
        {
            "eval_loss": float(np.mean(np.concatenate(example_losses))),
            "global_step": run.global_step,
            "loss": float(np.mean(batch_losses)),
        },
    )


def read_labels(options):
    """Returns the labels of the model that the flags start from, or None.

    They stand in `labels.txt` beside its checkpoint, or in the config.json of
    a Hugging Face model. A new training's labels are not those of its
    --init_checkpoint.
    """
    if checkpointing.checkpoint_steps(options.output_dir):
        return modeling.load_labels(options.output_dir)
    if options.init_checkpoint and not options.do_train:
        return modeling.load_labels(options.init_checkpoint)
    return None


def check_labels(label_list, saved_labels):
    """Refuses a model whose outputs mean other labels, or in another order.

    Args:
        label_list: list of str, the task's.
        saved_labels: what `read_labels` gave.

    Raises:
        ValueError: they differ.
    """
    if label_list and saved_labels and list(label_list) != list(saved_labels):
        raise ValueError(
            f"the model was trained with the labels {saved_labels}, in this "
            f"order; the task has {label_list}. Give the task it was trained "
            "for, or train into another --output_dir"
        )
