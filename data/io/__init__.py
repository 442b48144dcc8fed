"""Files, tables, labels, TFRecords and worker processes."""
