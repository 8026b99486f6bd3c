import httpx
from fastmcp import FastMCP

mcp = FastMCP.from_openapi(openapi_spec={}, client=httpx.AsyncClient(), name="from openapi")
