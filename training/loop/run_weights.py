"""Chooses the weights that a run starts from, and saves the trained ones."""

import enum
from collections.abc import Iterable, Sequence

import keras
from absl import logging

import modeling
from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.training_settings import TrainingSettings
from modeling.base_task_model import AnyTaskModel
from modeling.checkpoints.variables import check_loaded
from training.config.training_config import TrainingConfig
from training.optimizers.adamw import TrainingOptimizer
from training.run_files.checkpointer import Checkpointer
from training.run_files.run_folder import RunFolder
from training.starting_point import StartingPoint


class _WeightsSource(enum.Enum):
    """The source of the weights that a command starts from.

    Attributes:
        BEST_STEP: the best step of the run in --output_dir.
        NEWEST_CHECKPOINT: the newest checkpoint of the run.
        INITIAL: the weights of --init_checkpoint, or with --init_layers those
            of --teacher. Without these flags, random numbers.
    """

    BEST_STEP = enum.auto()
    NEWEST_CHECKPOINT = enum.auto()
    INITIAL = enum.auto()


class RunWeights:
    """The weights of a run, in its model and in its folder.

    The flags and the contents of the folder decide which weights a command
    starts from. `load_start` is the only place of this rule, so that training,
    evaluation and export start from the same weights.

    Args:
        model: the task's model, already built.
        starting_point: names the initial weights. Its flags say how many
            checkpoints stay.
        run_folder: folder of the run.
        optimizer: optimizer to save with the weights, None if the model only
            predicts.
        trainable_variables: the variables that the optimizer updates.

    Attributes:
        global_step: number of steps that trained the current weights,
            including steps that were skipped.
        is_best_step: whether the current weights come from the best step.
        preset: Preset of the current weights, None if they are random. It is
            the Preset of the StartingPoint, until `begin_training` describes
            the weights that it changes.
    """

    def __init__(
        self,
        model: AnyTaskModel,
        starting_point: StartingPoint[TrainingConfig],
        run_folder: RunFolder,
        optimizer: "TrainingOptimizer | None" = None,
        trainable_variables: Iterable[keras.Variable] = (),
    ) -> None:
        self.global_step = 0
        self.is_best_step = False
        self.preset = starting_point.preset
        config = starting_point.config
        self._model = model
        self._config = config
        self._run_folder = run_folder
        weights = dict(modeling.named_variables(model))
        # Distillation may also train a projection outside of the model.
        variables = weights | {
            variable.path: variable
            for variable in trainable_variables
            if variable.path.startswith("distillation/")
        }
        self._checkpointer = Checkpointer(
            run_folder.output_dir,
            variables,
            optimizer,
            keep_checkpoint_max=config.training.keep_checkpoint_max,
            is_chief=config.is_chief,
        )
        self._best_checkpointer = Checkpointer(
            run_folder.best_step.folder,
            weights,
            keep_checkpoint_max=1,
            is_chief=config.is_chief,
        )

    def advance(self, num_steps: int) -> int:
        """Counts steps that trained the current weights further.

        Returns the number of the last step.
        """
        self.global_step += num_steps
        return self.global_step

    def load_start(
        self, label_alternatives: Sequence[Sequence[str]] = ()
    ) -> None:
        """Loads the weights that training or evaluation starts from.

        The history and the best step of the run go on from these weights.

        A training starts from the newest checkpoint, or else as a new run. A
        command without training starts from the best step if the config says
        `starts_from_best`, or else from the newest checkpoint. If only one of
        the two exists, it starts from that one.

        Args:
            label_alternatives: lists of names that the outputs may have.

        Raises:
            ValueError: the weights do not fit the model, or all checkpoints
                are damaged.
            OSError: the weights cannot be read.
        """
        match self._choose_source():
            case _WeightsSource.BEST_STEP:
                self.restore_best()
            case _WeightsSource.NEWEST_CHECKPOINT:
                self.global_step = self._checkpointer.restore()
            case _WeightsSource.INITIAL:
                self._warn_of_restart()
                self._load_initial(label_alternatives)
        if not self.is_best_step:
            # The history may have lines of later steps, whose checkpoints
            # cannot be read.
            self._run_folder.resume(self.global_step)

    def _choose_source(self) -> _WeightsSource:
        """Chooses the weights to start from, by the flags and the folder."""
        config = self._config
        has_checkpoints = bool(
            list_checkpoint_steps(self._run_folder.output_dir)
        )
        prefers_best = config.starts_from_best or not has_checkpoints
        if (
            prefers_best
            and not config.training.do_train
            and self._run_folder.find_best_checkpoint()
        ):
            return _WeightsSource.BEST_STEP
        if has_checkpoints:
            return _WeightsSource.NEWEST_CHECKPOINT
        return _WeightsSource.INITIAL

    def _warn_of_restart(self) -> None:
        """Logs a warning if a new run replaces one without checkpoints."""
        training = self._config.training
        if training.do_train and self._run_folder.find_best_checkpoint():
            logging.warning(
                "%s contains a best step, but no checkpoint to resume from. "
                "The training starts again.",
                training.output_dir,
            )

    def _load_initial(
        self, label_alternatives: Sequence[Sequence[str]]
    ) -> None:
        """Loads the weights that a new run starts from, if there are any."""
        config = self._config
        if not config.initial_checkpoint:
            logging.info("No --init_checkpoint: starting from random weights.")
            return
        report = modeling.load_checkpoint(
            self._model,
            self.preset or config.initial_checkpoint,
            initial_blocks=config.distillation.initial_blocks,
            label_alternatives=label_alternatives,
            run_step="reported" if config.loads_best else "last",
            # Training may begin with the model of another task.
            replaces_head=config.training.do_train,
        )
        if not config.training.do_train:
            # Pretraining exports models without a masked LM head.
            needs_head = bool(config.model_class or config.training.do_eval)
            check_loaded(report, needs_head=needs_head)

    def begin_training(
        self, training_settings: TrainingSettings | None
    ) -> None:
        """Prepares the folder of the run for steps that change these weights.

        Writes model.json, the files that it lists, and the card. Removes the
        lines of the history after the current step.

        Args:
            training_settings: settings to record in model.json. If None, no
                file is written.

        Raises:
            ValueError: the checkpoint contains no state of the optimizer. Or
                files in the folder describe another model.
            OSError: a file cannot be written.
        """
        self._check_optimizer()
        if self._config.is_chief and training_settings is not None:
            self.preset = self._run_folder.write_description_and_card(
                self._model, training_settings
            )
        self._run_folder.history.remove_lines_after(self.global_step)

    def _check_optimizer(self) -> None:
        """Checks that the training can go on from the restored checkpoint."""
        if self._checkpointer.has_optimizer:
            return
        folder = self._config.training.output_dir
        raise ValueError(
            f"the run in --output_dir={folder} has ended, and kept no state of "
            "the optimizer to train on with (see --keep_optimizer). Set "
            f"another --output_dir and --init_checkpoint={folder}"
        )

    def restore_best(self) -> None:
        """Restores the weights of the best step, if the run has one."""
        path = self._run_folder.find_best_checkpoint()
        if path:
            self.global_step = self._best_checkpointer.restore_from(path)
            self.is_best_step = True

    def save(self, *, keeps_optimizer: bool) -> None:
        """Saves the current weights as a checkpoint of the run.

        Args:
            keeps_optimizer: whether to save the optimizer too, with which the
                training can go on.
        """
        self._checkpointer.save(
            self.global_step, keeps_optimizer=keeps_optimizer
        )
        logging.info("Saved the checkpoint of step %d", self.global_step)

    def save_best(self) -> None:
        """Saves the current weights, and makes their step the best step."""
        self._best_checkpointer.save(self.global_step)
        self._run_folder.best_step.record(self.global_step)

    def describe(self) -> str:
        """Returns words for the current weights, for the log."""
        if not self.global_step:
            checkpoint = self._config.model.init_checkpoint
            if not checkpoint:
                return "random weights"
            return f"the weights of {checkpoint}"
        which = "best" if self.is_best_step else "last"
        return f"the weights of step {self.global_step} (the {which} step)"
