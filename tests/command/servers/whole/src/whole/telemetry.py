import fastmcp
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

fastmcp.settings.telemetry_mode = "off"

ALLOWED = frozenset({"mcp.org_id", "mcp.user_id", "mcp.tool", "mcp.status", "service.name"})
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(None))


def sift(attributes: dict) -> dict:
    return {key: value for key, value in attributes.items() if key in ALLOWED}


def name_caller(span, org: str, user: str) -> None:
    span.set_attribute("mcp.org_id", org)
    span.set_attribute("mcp.user_id", user)
