"""What runs inside a rendering, with its interpreter."""
