"""The tests of this connector."""
