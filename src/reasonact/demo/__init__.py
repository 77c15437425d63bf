"""The demonstration: tools, a stand-in model, a live view."""
