"""Excludes the fork server's imports from garbage collection. Import last."""

import gc

gc.collect()
gc.freeze()
