"""Runs the training loop: steps, callbacks, evaluations, checkpoints.

Read them in this order:

    trainer.py: `Trainer`: the model, its step, its weights and predictions
    step_loop.py: runs steps, their callbacks and saves, until training ends
    run_weights.py: `RunWeights`: which weights a run starts from, and saves
    train_step.py: one step: gradients, clipping, update, on several devices
    batch_gradients.py: the loss and gradients of a batch, at once or in parts
    callbacks.py: `Callback`, which runs after each step
    best_step.py: evaluates, and keeps the weights of the best step
    summary_callback.py: logs losses, speed and memory
    stopping.py: signals, skipped steps, workers that stop together
    checkpointer.py: saves and restores the weights and the optimizer
    checkpoint_rotation.py: removes old checkpoints, and links the best one
    batch_predictor.py: a model's outputs, batch by batch
    eval_loss.py: adds up the loss of an evaluation
    devices.py: strategies of devices, and how they share batches
"""
