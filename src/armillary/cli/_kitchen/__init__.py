"""The kitchen: a robot opens a cupboard, takes a cup and sets it down, and the world is asked about it."""
