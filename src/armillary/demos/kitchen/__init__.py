"""A robot in a kitchen: joints, odometry, localisation, and two cameras that see a cup."""
