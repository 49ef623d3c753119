"""Distance transforms of images and volumes."""
