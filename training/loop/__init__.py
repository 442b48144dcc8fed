"""Trains a model, and contains the other steps that both flows share.

Before the steps, in the order of a command:

    devices.py: strategies of devices, and how they share batches
    teacher.py: loads the teacher
    run_plan.py: `RunPlan`: the model, loss, steps and settings of a training
    trainer_loading.py: `load_trainer`: the folder, the model and its Trainer,
        with the weights to start from

The steps:

    trainer.py: `Trainer`: the model, its step and its weights
    stop_signals.py: lets a signal end the training after a step
    step_loop.py: runs steps, their callbacks and saves, until all workers end
        after the same step
    skipped_steps.py: counts steps that changed no weight, and ends the training
        after too many
    train_step.py: one step: gradients, clipping, update, on several devices
    batch_gradients.py: the loss and gradients of a batch, at once or in parts
    callbacks.py: `Callback`, which runs after each step
    summary_callback.py: adds losses, speed and memory to the history
    best_step_callback.py: evaluates, and keeps the weights of the best step

Evaluations, and the end:

    evaluations.py: evaluates the weights of each step only once
    batch_predictor.py: a model's outputs, batch by batch
    final_steps.py: stores, exports and logs what was trained
"""
