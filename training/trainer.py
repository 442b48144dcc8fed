"""Runs the training loop of all tasks.

The loop does not depend on the task. A model maps a dict of features to
outputs, and a loss (modeling/losses.py) maps the outputs to a number.
train_step.py computes and applies the gradients.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from absl import logging

import modeling
from command_line import progress
from command_line.groups import PRECISIONS
from data.io import tfrecords
from files import json_files
from files.atomic import write_text
from modeling import cards, descriptions, presets
from modeling.checkpoint_folders import find_best
from modeling.losses import Loss
from modeling.presets import BEST
from modeling.results import format_results
from training import checkpointing, checks, devices, run_folder, stopping
from training.callbacks import Callback
from training.callbacks.history import History
from training.callbacks.summaries import Summaries
from training.config import TrainingConfig
from training.optimizers import optimization
from training.prediction import BatchPredictor
from training.start import Start
from training.train_step import TrainStep


class Trainer(BatchPredictor):
    """Trains, saves and restores one model, and predicts with it.

    Args:
        model: a keras.Model over a dict of features, already built. Its weights
            are saved.
        start: what the run starts from: its flags, and the tokenizer, which is
            saved with the weights.
        step: the training step of the model. None if the model only predicts.
        settings: result of `run_folder.check_resumed`, which `fit` records in
            the run's folder. None = record nothing.
        dev_set: checksum of the dev set. Results with equal checksums may be
            compared.
        output_names: lists of possible names of the model's outputs, for the
            argument `labels` of `modeling.load_checkpoint`. The first is saved
            with the weights. Empty if the outputs are not labels.

    Attributes:
        num_train_steps: number of the step at which training ends.
        global_step: number of steps that trained the current weights,
            including steps that were skipped.
        has_best: whether the current weights come from the best step.
        best_folder: folder of the weights of the best step.
        labels: names of the model's outputs, in order, or None.
        checkpointer: saves the run in `output_dir`.
        history: metrics, steps and hours of the run.
        preset: Preset of the current weights, None if they are random.
        results: what this command wrote to eval_results.txt, or None.
    """

    def __init__(
        self,
        model: keras.Model,
        start: Start,
        step: TrainStep | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        dev_set: int = 0,
        output_names: Sequence[Sequence[str]] = (),
    ) -> None:
        config = start.config
        super().__init__(model, config.devices.jit_compile)
        self.config: TrainingConfig = config
        self._command = start.command
        self.preset = start.preset
        # None if the model only predicts.
        self.train_step: Any = step
        self.settings = settings
        self.tokenizer = start.tokenizer
        self._output_names = output_names
        self.labels = output_names[0] if output_names else None
        self.is_chief = config.is_chief
        self.best_folder = Path(config.training.output_dir, BEST)
        self.num_train_steps = 0
        self.global_step = 0
        self.has_best = False
        self.history = History(config, dev_set)
        self.results: Mapping[str, float] | None = None
        weights = dict(modeling.named_variables(model))
        variables = {**weights}
        if step is not None:
            # Distillation may also train a projection outside of the model.
            variables |= {
                variable.path: variable
                for variable in step.model.trainable_variables
                if variable.path.startswith("distillation/")
            }
        self.checkpointer = checkpointing.Checkpointer(
            config.training.output_dir,
            variables,
            step.optimizer if step else None,
            config.training.keep_checkpoint_max,
            self.is_chief,
        )
        self._best = checkpointing.Checkpointer(
            self.best_folder,
            weights,
            keep_checkpoint_max=1,
            is_chief=self.is_chief,
        )

    @classmethod
    def create(
        cls,
        start: Start,
        create_model: Callable[..., keras.Model],
        loss: Loss,
        num_steps: tuple[int, int] | None,
        teacher: keras.Model | None = None,
        **options: Any,
    ) -> "Trainer":
        """Creates a model with random weights, and the Trainer of its run.

        Args:
            start: what the run starts from.
            create_model: function (**options) -> the task's model. `options`
                are the arguments that every model accepts.
            loss: the task's loss.
            num_steps: (training steps, warmup steps), None without training.
            teacher: the teacher to learn from, None without a teacher.
            **options: other arguments of the constructor.

        Raises:
            ValueError: a flag does not fit the model or the devices.
        """
        config = start.config
        strategy = devices.strategy_of(config.devices)
        keras.utils.set_random_seed(config.training.seed)
        if config.training.deterministic:
            tf.config.experimental.enable_op_determinism()
        # Variables, losses, softmax and LayerNorm's statistics stay float32.
        keras.config.set_dtype_policy(
            PRECISIONS[config.devices.mixed_precision]
        )
        with strategy.scope():
            model = create_model(
                use_one_hot_embeddings=config.devices.is_tpu,
                gradient_checkpointing=config.training.gradient_checkpointing,
                unpad=config.unpads,
                seed=config.training.seed,
            )
            model.build()
            if not num_steps:
                return cls(model, start, **options)
            if number := config.training.freeze_layers:
                bert = model.bert
                for layer in [bert.embeddings, *bert.encoder.blocks[:number]]:
                    layer.trainable = False
            optimizer: Any = optimization.create_optimizer(
                config.optimizer, *num_steps
            )
            if config.devices.mixed_precision == "float16":
                # Small gradients underflow in float16 without a loss scale.
                optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
            trained: Any = model
            if teacher:
                loss = modeling.DistillationLoss(
                    loss,
                    config.distillation.distill_temperature,
                    config.distillation.distill_alpha,
                    config.distillation.distill_hidden,
                )
                trained = modeling.Distiller(
                    model, teacher, loss, config.training.seed
                )
            step = TrainStep(trained, loss, optimizer, config, strategy)
        return cls(model, start, step, **options)

    def restore_or_load(self, prefers_best: bool = False) -> None:
        """Sets the weights that training or evaluation starts from.

        They come from the first that exists:

        1. Without training, the best step of the run in --output_dir. Only if
           there is no checkpoint, unless `prefers_best`.
        2. The newest checkpoint in --output_dir.
        3. The --init_checkpoint, or with --init_layers the --teacher.
        4. Random numbers.
        """
        config = self.config
        if (
            prefers_best
            and not config.training.do_train
            and self.restore_best()
        ):
            return
        step = self.checkpointer.restore()
        if (
            step is None
            and not config.training.do_train
            and self.restore_best()
        ):
            return
        if step is None and find_best(config.training.output_dir):
            logging.warning(
                "%s contains a best step, but no checkpoint to resume from. "
                "The training starts again.",
                config.training.output_dir,
            )
        if step is None and config.initial_checkpoint:
            layers = None
            if config.distillation.init_layers is not None:
                layers = [*map(int, config.distillation.init_layers)]
            report = modeling.load_checkpoint(
                self.model,
                self.preset or config.initial_checkpoint,
                layers,
                labels=self._output_names,
                best=None if config.loads_best else False,
                # Training may begin with the model of another task.
                replaces_head=config.training.do_train,
            )
            if not config.training.do_train:
                # Pretraining exports models without a masked LM head.
                needs_head = bool(config.head or config.training.do_eval)
                checks.check_loaded(report, needs_head)
        elif step is None:
            logging.info("No --init_checkpoint: starting from random weights.")
        self.global_step = step or 0
        self.history.restore(self.global_step)

    # Contents of the run's model.json, None if this command trains and changes
    # them.
    @property
    def _described(self) -> Mapping[str, Any] | None:
        is_fixed = not self.config.training.do_train
        if is_fixed and self.preset and self.preset.is_resumed:
            return self.preset.described
        return None

    def restore_best(self) -> bool:
        """Restores the best step's weights. Returns whether there is one."""
        path = find_best(self.config.training.output_dir, self._described)
        if path:
            self.global_step = self._best.read(path)
            self.has_best = True
        return bool(path)

    def save_best(self, step: int) -> None:
        """Saves the weights after `step` as the weights of the best step."""
        self._best.save(step)
        if self.is_chief:
            run_folder.set_best_step(self.config.training.output_dir, step)

    def link_best(self) -> None:
        """Stores the best step's weights only once, if it is the last step."""
        if self.is_chief:
            self._best.link(
                self.history.best_step, self.config.training.output_dir
            )

    def fit(
        self,
        records: tfrecords.Records,
        num_train_steps: int,
        callbacks: Sequence[Callback] = (),
        epochs: float | None = None,
    ) -> None:
        """Trains from the current step until something ends the run.

        Training ends at step `num_train_steps`, when a callback returns True
        (`BestStep` out of patience), after --max_hours, at a signal, or at an
        error.

        Args:
            records: the records to train on.
            num_train_steps: number of the last step.
            callbacks: run after each step, in this order.
            epochs: number of epochs in all steps, for the log, if known.

        Raises:
            ValueError: too many consecutive steps had a non-finite loss or
                gradient, or a weight to save is not finite. Or a user's files
                in --output_dir describe another model.
            tf.errors.ResourceExhaustedError: a device has run out of memory.
            tf.errors.UnavailableError: another worker was lost.
            OSError: a checkpoint could not be written.
            SystemExit: a signal stopped the run after saving it.
        """
        config = self.config
        step = self.global_step
        self.num_train_steps = num_train_steps
        if self.is_chief and config.training.summary_steps:
            callbacks = [*callbacks, Summaries(self.history, config)]
        has_ended = self._is_time_over or any(
            callback.has_ended(step) for callback in callbacks
        )
        # All workers restored the same step.
        strategy = self.train_step.strategy
        ends = stopping.agree(strategy, [has_ended], is_due=True)
        if step >= num_train_steps or any(ends):
            logging.info(
                "Nothing left to do: the run in %s has ended at step %d.",
                config.training.output_dir,
                step,
            )
            return
        if not self.checkpointer.has_optimizer:
            raise ValueError(
                f"the run in --output_dir={config.training.output_dir} has "
                "ended, and kept no state of the optimizer to train on with "
                "(see --keep_optimizer). Set another --output_dir and --init_"
                f"checkpoint={config.training.output_dir}"
            )
        count = self.model.count_params()
        logging.info("***** Running training *****")
        logging.info("  Batch size = %d", config.batch_size)
        logging.info("  Steps = %d", num_train_steps)
        # A weight, its gradient and the optimizer's m and v are 16 bytes.
        logging.info(f"  Parameters = {count:,} ({16 * count:,} bytes)")
        if self.is_chief and self.settings is not None:
            described = run_folder.write(
                config,
                self._command,
                self.model,
                self.settings,
                tokenizer=self.tokenizer,
                labels=self.labels,
                best_step=self.history.best_step,
            )
            folder = config.training.output_dir
            self.preset = presets.of_run(folder, described)
            self.write_card(is_finished=False)
        with self.history.training(step), stopping.stop_signals() as stop:
            is_stopped = self._run_steps(records, callbacks, stop, epochs)
        if is_stopped:
            logging.warning(
                "Stopped after step %d, which is saved. Run the same command "
                "again to resume.",
                self.global_step,
            )
            raise SystemExit(stopping.INTERRUPTED_STATUS)

    # Runs the steps that are left, and saves them. Returns whether a signal
    # ended them.
    def _run_steps(
        self,
        records: tfrecords.Records,
        callbacks: Sequence[Callback],
        stop: threading.Event,
        epochs: float | None,
    ) -> bool:
        config = self.config
        size = config.batch_size
        step = self.global_step
        last = self.num_train_steps
        batches = iter(self._create_dataset(records))
        skipped = stopping.SkippedSteps(config.training)
        is_done = is_stopped = is_save_due = False
        logging.info("Building the first step, which may take a minute")
        with progress.Progress(
            last, step, "step", size, "Training", epochs
        ) as bar:
            while not is_done:
                number = self._num_steps_at_once(callbacks)
                logs, outcomes = self.train_step(batches, number)
                self.global_step = step = step + number
                skipped.count(step, outcomes)
                if bar.due(step):
                    bar.update(step, **logs)
                with bar.paused():
                    ends = [call.on_step(step, logs) for call in callbacks]
                    is_save_due |= (
                        step % config.training.save_checkpoints_steps == 0
                    )
                    has_ended, is_over, is_stopped = stopping.agree(
                        self.train_step.strategy,
                        [any(ends), self._is_time_over, stop.is_set()],
                        is_save_due
                        or step % stopping.AGREEMENT_STEPS == 0
                        or any(end is not None for end in ends),
                    )
                    if is_over:
                        logging.info("Reached --max_hours after step %d.", step)
                    is_done = step == last or has_ended or is_over or is_stopped
                    # Steps that are skipped may be the fault of the weights,
                    # so do not save these weights before the end.
                    if is_done or (is_save_due and not skipped.num_in_a_row):
                        rate = logs["learning_rate"]
                        self.history.add("checkpoint", step, {}, rate)
                        goes_on = step < last and not has_ended
                        keeps = config.training.keep_optimizer or goes_on
                        self.checkpointer.save(step, keeps)
                        logging.info("Saved the checkpoint of step %d", step)
                        is_save_due = False
        return is_stopped

    def _create_dataset(self, records: tfrecords.Records) -> Iterable:
        # Returns the batches of the steps that are left. Skip the records of
        # all earlier steps, even of steps without an update. The order of
        # records depends only on the seed and the epoch.
        size = self.config.batch_size
        dataset: Any = tfrecords.create_dataset(
            records,
            size,
            is_training=True,
            seed=self.config.training.seed,
            skip_records=self.global_step * size,
            trim=self.config.unpads,
        )
        if self.train_step.strategy.num_replicas_in_sync > 1:
            dataset = devices.distribute(self.train_step.strategy, dataset)
        return dataset

    @property
    def _is_time_over(self) -> bool:
        limit = self.config.training.max_hours
        return limit is not None and self.history.hours >= limit

    # Returns the number of steps to run before something may be due.
    def _num_steps_at_once(self, callbacks: Sequence[Callback]) -> int:
        step = self.global_step
        every = [each.every for each in callbacks if each.every]
        every.append(self.config.training.save_checkpoints_steps)
        return min(
            self.config.steps_per_call,
            self.num_train_steps - step,
            *(number - step % number for number in every),
        )

    @property
    def described_step(self) -> str:
        """Description of the current weights, for the log."""
        if not self.global_step:
            start = self.config.model.init_checkpoint
            return f"the weights of {start}" if start else "random weights"
        which = "best" if self.has_best else "last"
        return f"the weights of step {self.global_step} (the {which} step)"

    def write_results(self, name: str, results: Mapping[str, float]) -> None:
        """Writes `key = value` lines like Google's code, and logs a table."""
        ordered = {key: results[key] for key in sorted(results)}
        # The table of an export would only repeat the model's.
        if not name.startswith("export"):
            table = format_results(ordered)
            logging.info("***** Eval results *****\n%s", table)
        if name == "eval_results.txt":
            self.results = results
        if self.is_chief:
            path = Path(self.config.training.output_dir) / name
            lines = [f"{key} = {value}\n" for key, value in ordered.items()]
            write_text(path, "".join(lines))

    def write_card(
        self,
        is_finished: bool = True,
        export: str | None = None,
        table: str | None = None,
    ) -> None:
        """Writes README.md in --output_dir, unless the user wrote this file.

        It contains the scores, and describes the files of a finished run.

        Args:
            is_finished: whether the folder contains all files of the run.
            export: folder of the exported model, None if there is none.
            table: name of the single table of the training, None if none is.
        """
        folder = Path(self.config.training.output_dir)
        path = folder / cards.FILE
        model = folder / presets.FILE
        if not model.is_file():
            return  # The folder contains the results of other weights.
        if path.exists() and not cards.is_own_card(path):
            return
        casing = self.tokenizer.do_lower_case if self.tokenizer else None
        card = cards.Card(
            kind=cards.RUN,
            description=self._described or json_files.read_json(model),
            labels=self.labels,
            do_lower_case=casing,
            results=self.results or {},
            files=cards.file_sizes(folder) if is_finished else {},
            export=export,
            table=table,
        )
        write_text(path, card.text())

    def finish(self) -> None:
        """Stores the best step once, and writes --export_weights.

        The folder --export_weights then contains the files of Google's releases
        (bert_model.ckpt, bert_config.json, vocab.txt), model.json, and
        labels.txt if the model's outputs are labels.

        Raises:
            OSError: a file cannot be written.
        """
        self.link_best()
        path = self.config.training.export_weights
        if self.is_chief and path is not None:
            modeling.save_release(
                self.model,
                path,
                self.tokenizer,
                self.labels,
                files=descriptions.describe_copy(
                    self.preset,
                    self.model,
                    cards.WEIGHTS,
                    step=self.global_step or None,
                    labels=self.labels,
                    tokenizer=self.tokenizer,
                    results=self.results,
                ),
            )
            logging.info("Wrote the weights to %s", path)
