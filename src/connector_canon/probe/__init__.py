"""`canon probe`: examine a running server from outside, in any language."""

from connector_canon.probe.look import probe
from connector_canon.probe.rules import PROBE_RULES

__all__ = ["PROBE_RULES", "probe"]
