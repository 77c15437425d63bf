"""What runs a flow: commands, the two drivers, settings, events, callbacks, limits."""
