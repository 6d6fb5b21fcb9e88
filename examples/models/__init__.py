"""Robots and furniture that this project made: each is code that gives a `RobotDescription`, or URDF when run."""
