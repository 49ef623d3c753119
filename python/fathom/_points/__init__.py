"""Sets of sites that stay in memory and answer."""
