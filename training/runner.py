"""What every training script does between its flags and its task."""

from pathlib import Path

import keras
from absl import logging

import modeling
from training import checkpointing, distribution, loop, optimization


def check_tasks(options, names):
    """Refuses a command that asks for nothing."""
    if not any(getattr(options, name) for name in names):
        listed = " or ".join(f"--{name}" for name in names)
        raise ValueError(f"nothing to do: give {listed}")


def load_config(options, max_seq_length):
    """Returns the model's configuration, checked against the length.

    Raises:
        ValueError: the model has fewer positions than `max_seq_length`.
    """
    config = modeling.load_config(options.bert_config_file)
    if max_seq_length > config.max_position_embeddings:
        raise ValueError(
            f"--max_seq_length={max_seq_length} is more than the model's "
            f"{config.max_position_embeddings} positions "
            f"(max_position_embeddings in {options.bert_config_file}); give "
            "a smaller --max_seq_length"
        )
    return config


def num_steps(options, num_examples):
    """Returns the steps of --num_train_epochs and those of the warmup.

    As in the original, both are rounded down.

    Raises:
        ValueError: there is not one whole step.
    """
    steps = int(
        num_examples / options.train_batch_size * options.num_train_epochs
    )
    if not steps:
        raise ValueError(
            f"--num_train_epochs={options.num_train_epochs} of {num_examples} "
            f"examples make no whole step of --train_batch_size="
            f"{options.train_batch_size}; give a smaller batch or more epochs"
        )
    return steps, int(steps * options.warmup_proportion)


def create_strategy(options):
    """Returns the strategy that the device flags ask for."""
    strategy = distribution.create_strategy(
        options.distribution_strategy,
        use_tpu=options.use_tpu,
        tpu_name=options.tpu_name,
        tpu_zone=options.tpu_zone,
        gcp_project=options.gcp_project,
        master=options.master,
    )
    cores = strategy.num_replicas_in_sync
    if options.use_tpu and cores != options.num_tpu_cores:
        logging.warning(
            "The TPU has %d cores, --num_tpu_cores=%d; using all it has.",
            cores,
            options.num_tpu_cores,
        )
    return strategy


class Run:
    """A model, what trains it, and where both stand.

    The weights come from the newest checkpoint of `output_dir`, else from
    --init_checkpoint, else they are random (training only).

    Args:
        options: the script's flag values.
        create_model: () -> the task's model.
        loss: the task's loss.
        num_train_steps: length of training; None where there is none.
        num_warmup_steps: length of the warmup.
        settings: what must not change while a run goes on (see
            checkpointing.check_settings).

    Attributes:
        trainer: the loop.Trainer.
        global_step: steps that the weights have behind them.
    """

    def __init__(
        self,
        options,
        create_model,
        loss,
        num_train_steps=None,
        num_warmup_steps=0,
        settings=None,
    ):
        self.options = options
        self.num_train_steps = num_train_steps
        self.strategy = create_strategy(options)
        self.is_chief = distribution.is_chief(self.strategy)
        keras.utils.set_random_seed(options.seed)
        distribution.set_precision(options.mixed_precision)
        optimizer = None
        with self.strategy.scope():
            model = create_model()
            model.build()
            if num_train_steps is not None:
                optimizer = optimization.create_optimizer(
                    options.learning_rate,
                    num_train_steps,
                    num_warmup_steps,
                    aggregate_gradients=False,
                )
                optimizer = distribution.scale_losses(
                    optimizer, options.mixed_precision
                )
        self.trainer = loop.Trainer(
            model,
            loss,
            optimizer,
            self.strategy,
            jit_compile=options.jit_compile,
        )
        self.checkpointer = checkpointing.Checkpointer(
            options.output_dir,
            modeling.named_variables(model),
            optimizer,
            keep_checkpoint_max=options.keep_checkpoint_max,
            is_chief=self.is_chief,
        )
        if optimizer is not None:
            distribution.check_batch_size(
                self.strategy, options.train_batch_size, 1, "--train_batch_size"
            )
            checkpointing.check_settings(
                options.output_dir,
                {
                    "bert_config": model.config.to_dict(),
                    "train_batch_size": options.train_batch_size,
                    "seed": options.seed,
                }
                | (settings or {}),
                self.is_chief,
            )
        self.global_step = self._restore()

    @property
    def model(self):
        """The task's model."""
        return self.trainer.model

    def _restore(self):
        step = self.checkpointer.restore()
        if step is not None:
            return step
        if self.options.init_checkpoint:
            modeling.load_checkpoint(self.model, self.options.init_checkpoint)
        elif self.num_train_steps is None:
            raise ValueError(
                f"no checkpoint in --output_dir={self.options.output_dir} and "
                "no --init_checkpoint: train first, or give one"
            )
        else:
            logging.info("No --init_checkpoint: starting from random weights.")
        return 0

    def train(self, dataset):
        """Trains to the last step, on the batches that follow the step's.

        Args:
            dataset: global batches, the first being that of the next step.
        """
        if self.global_step >= self.num_train_steps:
            logging.info(
                "Nothing left to do: %s is at step %d of %d.",
                self.options.output_dir,
                self.global_step,
                self.num_train_steps,
            )
            return
        logging.info("***** Running training *****")
        logging.info("  Batch size = %d", self.options.train_batch_size)
        logging.info("  Steps = %d", self.num_train_steps)
        self.trainer.train(
            distribution.distribute(self.strategy, dataset),
            self.num_train_steps,
            self.options.train_batch_size,
            self.checkpointer,
            self.options.save_checkpoints_steps,
        )
        self.global_step = self.trainer.step

    def write_results(self, name, results):
        """Writes `key = value` lines as the original does, and logs them."""
        lines = [f"{key} = {results[key]}" for key in sorted(results)]
        logging.info("***** Eval results *****")
        for line in lines:
            logging.info("  %s", line)
        if self.is_chief:
            checkpointing.write_text(
                Path(self.options.output_dir) / name, "\n".join(lines) + "\n"
            )


def fingerprint(files):
    """Returns [name, bytes] of each file, to notice that an input changed."""
    return [[Path(file).name, Path(file).stat().st_size] for file in files]
