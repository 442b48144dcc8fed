"""Files, tables, TFRecords and worker processes."""
