"""Large inputs: cut into units, run by worker processes or Beam, resumed."""
