from fastmcp import FastMCP

notice = FastMCP("old address", instructions="First search, then read: this server has moved.")
