"""Two turtles: the second follows the first, five seconds behind."""
