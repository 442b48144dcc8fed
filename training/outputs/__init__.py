"""Files that a run writes, and reads back when it resumes."""
