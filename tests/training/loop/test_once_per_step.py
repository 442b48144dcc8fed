"""The weights of a step are evaluated once."""

from tests.support.two_weight_model import create_loop_trainer
from training.loop.once_per_step import evaluate_once_per_step


def test_the_weights_of_a_step_are_evaluated_once(tmp_path):
    trainer = create_loop_trainer(tmp_path)
    evaluated = []

    def evaluate():
        evaluated.append(trainer.run_weights.global_step)
        return {"score": -len(evaluated)}

    evaluate_once = evaluate_once_per_step(trainer.run_weights, evaluate)
    assert evaluate_once() == evaluate_once() == {"score": -1}
    trainer.run_weights.advance(1)
    assert evaluate_once() == {"score": -2}
    assert evaluated == [0, 1]
