"""What a run writes, and what a resumed run reads back."""
