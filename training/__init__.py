"""How any task is trained, evaluated and exported."""
