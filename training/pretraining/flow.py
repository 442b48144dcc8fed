"""Pretrains on records: all stages of a command, and how it ends.

The records are masked in advance or during training.
"""

import shlex
import time

from absl import logging

import modeling
from data.io import record_checks, record_datasets
from exporting.export_writer import export
from model_folders.cards import example_calls
from model_folders.kinds import ModelClass
from model_folders.reading import settings_check
from model_folders.scores import Scores
from training.config.pretraining_config import PretrainingConfig
from training.config.training_config import NumSteps
from training.loop import devices, final_stages
from training.loop.best_step_callback import BestStepCallback, BestStepRule
from training.loop.callbacks import Callback
from training.loop.teacher_loading import load_teacher
from training.loop.trainer import Trainer
from training.loop.trainer_loading import load_trainer
from training.preparation.start_checks import check_start
from training.pretraining.evaluation import (
    PretrainingEvaluation,
    PretrainingEvaluator,
    warn_of_no_progress,
)
from training.pretraining.plan import plan_pretraining
from training.pretraining.records import fingerprint_dev_set, open_records
from training.starting_point import StartingPoint


def pretrain(starting_point: StartingPoint[PretrainingConfig]) -> None:
    """Trains, evaluates and exports the model, depending on the flags.

    Raises:
        TrainingStopped: a signal ended the training. It ends the script.
        ValueError: a record, or the earlier run in --output_dir, does not match
            the flags.
        OSError: a file is missing or cannot be written.
    """
    begin_time = time.time()
    config = starting_point.config
    strategy = devices.connect_devices(config.devices)
    check_start(starting_point)
    _check_network(starting_point)
    teacher = load_teacher(starting_point, modeling.BertPretrainer)
    records = open_records(starting_point)
    dev_set_fingerprints = fingerprint_dev_set(config, records)
    plan = plan_pretraining(starting_point, records.train, dev_set_fingerprints)
    trainer = load_trainer(
        starting_point, plan, strategy=strategy, teacher=teacher
    )
    evaluator = PretrainingEvaluator(config, records.dev, trainer)
    evaluation = None
    with record_checks.explain_record_errors(records):
        if plan.num_steps:
            _train(plan.num_steps, trainer, records.train, evaluator)
        if config.training.do_eval:
            logging.info("Evaluating %s", trainer.run_weights.describe())
            evaluation = evaluator.evaluate()
            trainer.run_folder.write_evaluation(evaluation)
    _end_pretraining(starting_point, trainer, evaluation, begin_time=begin_time)


def _check_network(starting_point: StartingPoint[PretrainingConfig]) -> None:
    """Checks that the folder of the weights is of the network of the flags."""
    if starting_point.preset:
        settings_check.check_trained_settings(
            starting_point.preset,
            starting_point.bert_config,
            starting_point.tokenizer,
            network_arguments=starting_point.config.network_arguments,
            trains=starting_point.config.training.do_train,
        )


def _train(
    num_steps: NumSteps,
    trainer: Trainer,
    records: record_datasets.Records,
    evaluator: PretrainingEvaluator,
) -> None:
    """Trains on records, and evaluates meanwhile if the flags say so."""
    callbacks: list[Callback] = []
    if trainer.config.keeps_best:
        best_step_callback = BestStepCallback(
            trainer.run_weights,
            trainer.run_folder,
            evaluate=evaluator.evaluate,
            rule=BestStepRule(num_steps.between_evaluations, metric="loss"),
            num_train_steps=num_steps.training,
        )
        callbacks.append(best_step_callback)
    trainer.fit(records, num_steps.training, callbacks)


def _end_pretraining(
    starting_point: StartingPoint[PretrainingConfig],
    trainer: Trainer,
    evaluation: PretrainingEvaluation | None,
    *,
    begin_time: float,
) -> None:
    """Writes the export, the weights and the card, and logs what to know.

    All workers load the weights to export. Only the chief writes files.
    `begin_time` is the time.time() at which this command began.
    """
    config = starting_point.config
    dev_scores = evaluation.scores if evaluation else Scores()
    if config.export.export_dir or config.training.export_weights:
        # Export the best step's weights if this run saved them. Later commands
        # load the same weights from --output_dir.
        trainer.run_weights.restore_best()
        logging.info("Exporting %s", trainer.run_weights.describe())
    if not config.is_chief:
        return
    if export_dir := config.export.export_dir:
        # The export accepts text if the vocabulary is set.
        options = final_stages.create_export_options(trainer)
        export(export_dir, trainer.model, {}, options)
    final_stages.store_weights(trainer, evaluation)
    trainer.run_folder.write_card(dev_scores)
    if evaluation and config.training.do_train:
        warn_of_no_progress(evaluation)
    final_stages.log_end(
        trainer.run_folder,
        score_lines=_list_accuracy_lines(dev_scores),
        commands=_list_next_commands(starting_point),
        seconds=time.time() - begin_time,
    )


def _list_accuracy_lines(scores: Scores) -> list[str]:
    """Returns a line for each accuracy among the scores."""
    return [
        f"{name}: {scores.overall[name]:.4f}"
        for name in ("masked_lm_accuracy", "next_sentence_accuracy")
        if name in scores.overall
    ]


def _list_next_commands(
    starting_point: StartingPoint[PretrainingConfig],
) -> list[str]:
    """Returns commands that fine-tune, export or ask the model."""
    config = starting_point.config
    folder = shlex.quote(config.training.output_dir)
    has_tokenizer = starting_point.tokenizer is not None
    lines = []
    if config.training.do_train:
        vocabulary = "" if has_tokenizer else " --vocab_file=VOCAB"
        model = f"--init_checkpoint={folder}{vocabulary}"
        lines += [
            f"python run_classifier.py --data_file=TABLE {model} "
            "--output_dir=OUTPUT",
            f"python run_ner.py --data_file=FILE {model} --output_dir=OUTPUT",
        ]
    export = config.export.export_dir
    if config.training.do_train and has_tokenizer and not export:
        lines.append(
            f"python -m tools.export --model={folder} --export_dir=OUT"
        )
    elif has_tokenizer:
        lines += example_calls.list_example_commands(
            ModelClass.PRETRAINER, {}, export
        )
    return lines
