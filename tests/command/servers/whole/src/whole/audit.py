import hashlib
import json
import os

from fastmcp.server.middleware import Middleware


def append(path: str, line: dict) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, json.dumps(line).encode())
    os.close(handle)


class Audit(Middleware):
    async def on_call_tool(self, context, call_next):
        digest = hashlib.sha256(repr(context.message.arguments).encode()).hexdigest()
        append(os.environ["AUDIT"], {"tool": context.message.name, "arguments_sha256": digest})
        return await call_next(context)
