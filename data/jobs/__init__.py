"""Large inputs: cut into tasks, run by worker processes or Beam, resumed."""
