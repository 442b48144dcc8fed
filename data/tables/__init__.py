"""People's tables: their format, dialect, header, columns and split."""
