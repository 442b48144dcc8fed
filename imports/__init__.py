"""How packages are imported late, and what to install if one is missing."""
