"""Fine-tuning tasks that a script has besides its own."""
