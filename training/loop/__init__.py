"""The loop: steps, callbacks, evaluations, checkpoints.

Read them in this order:

    trainer.py: `Trainer`: the model, its step, its weights and predictions
    step_loop.py: runs steps, their callbacks and saves, until training ends
    run_weights.py: `RunWeights`: which weights a run starts from, and saves
    train_step.py: one step: gradients, clipping, update, on several devices
    batch_gradients.py: loss and gradients of a batch, at once or in parts
    callbacks.py: what runs after a step
    best_step.py: evaluates, and keeps the weights of the best step
    summary_callback.py: losses, speed and memory
    stopping.py: signals, skipped steps, workers that stop together
    checkpointer.py: what is saved and resumed
    checkpoint_rotation.py: which checkpoints stay
    eval_loss.py: the loss of an evaluation
"""
