"""The two agents and what they share."""
