from fastmcp import FastMCP

from parts import acts, courts


class Tolerant(FastMCP):
    """A server of our own."""


main = Tolerant("mounts")
main.mount(acts, namespace="acts")
main.mount(courts, "courts")


@main.tool
def status() -> str:
    """Status."""
    return "up"
