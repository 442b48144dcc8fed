"""What a run writes: checkpoints, history, report, weights and exports."""
