"""Relations that know what they mean: poses, velocities, forces and their algebra."""
