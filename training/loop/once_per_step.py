"""Remembers evaluations, so that no step is evaluated twice."""

from collections.abc import Callable
from typing import TypeVar

from training.loop.run_weights import RunWeights

EvaluationT = TypeVar("EvaluationT")


def evaluate_once_per_step(
    run_weights: RunWeights, evaluate: Callable[[], EvaluationT]
) -> Callable[[], EvaluationT]:
    """Returns a function that evaluates the weights of each step only once.

    The last step of the training is often the one that --do_eval evaluates.

    Args:
        run_weights: the weights, which know their step.
        evaluate: evaluates the current weights.
    """
    evaluation_of_step: dict[int, EvaluationT] = {}

    def evaluate_new_step() -> EvaluationT:
        step = run_weights.global_step
        if step not in evaluation_of_step:
            evaluation_of_step[step] = evaluate()
        return evaluation_of_step[step]

    return evaluate_new_step
