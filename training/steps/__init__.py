"""One run: its model, its devices and its steps.

In training, commands.run_task (of tasks/) calls fine_tuning.run, which makes a
runner.Run; that has building.create_trainer make a loop.Trainer, whose `train`
takes TrainStep.one or .many again and again; and that calls the optimizer.
"""
