"""Reading a Python repository without importing or running any of it."""
