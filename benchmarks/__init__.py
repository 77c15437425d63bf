"""Measurements of the library beside its peers, as ratios within one run."""
