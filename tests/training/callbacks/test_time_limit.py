"""Training that ends when its time is over."""

from tests.training.pair import OnStep, batches, create_trainer, fit
from training import checkpointing, devices
from training.callbacks.endings import TimeLimit


class TenSteps(TimeLimit):
    """Each step takes a tenth of the time."""

    steps = 0

    @property
    def spent(self):
        return self.steps / 10


def test_workers_agree_on_the_time(tmp_path):
    strategy, limit = devices.create_strategy("mirrored"), TenSteps()

    def look(step, logs):
        limit.steps = step

    with strategy.scope():
        trainer = create_trainer(
            strategy=strategy,
            output_dir=tmp_path,
            callbacks=[OnStep(look), limit],
        )
    fit(trainer, batches([]), 50)
    assert checkpointing.checkpoint_steps(tmp_path)[-1] in (10, 11)
