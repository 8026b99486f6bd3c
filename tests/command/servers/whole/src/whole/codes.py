from dataclasses import dataclass
from typing import Literal

CODES = frozenset({"not_found", "invalid_input", "upstream_unavailable", "rate_limited", "forbidden", "partial_result"})
Status = Literal["ok", "degraded", "failed"]


@dataclass
class Share:
    unit: str
    total: int
    usable: int
