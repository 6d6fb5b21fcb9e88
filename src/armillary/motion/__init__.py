"""Motion: velocities for robots and mechanisms from goals and the constraints of their models."""

__all__: list[str] = []
