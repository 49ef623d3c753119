"""What all rooms need and arrays have no part in: arguments, progress, warnings."""
