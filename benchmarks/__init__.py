"""Measurements of the library beside its peers, as ratios within one run.

Every side runs in a process of its own (`benchmarks.worker`), so that nobody's heap,
threads or settings cost another anything; samples are taken in turn. The model costs
nothing (`benchmarks.scripted`), so what is left is the library. Every run is checked.
"""
