"""SQuAD: reads questions, cuts windows, decodes and scores answers."""
