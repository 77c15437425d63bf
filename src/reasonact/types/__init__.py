"""What a field may hold."""
