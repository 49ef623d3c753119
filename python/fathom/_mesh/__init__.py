"""Triangle meshes that answer, and the fields of their distances."""
