"""Classification of texts, pairs of texts and choices."""
