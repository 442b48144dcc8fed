"""The loop: steps, callbacks, evaluations, checkpoints."""
