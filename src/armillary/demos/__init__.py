"""Demonstrations: simulated worlds that `armillary demo` runs, and the robot models they use."""
