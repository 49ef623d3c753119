"""What is built on distances: labels grown, shapes changed, skeletons, thickness, Voronoi cells, maps."""
