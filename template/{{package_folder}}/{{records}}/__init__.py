"""The capability: its definition, the providers behind it, the tools and resources in front of it."""
