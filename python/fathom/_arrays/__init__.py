"""Arrays of any library: what they are, where they lie, and how results become arrays of the same kind."""
