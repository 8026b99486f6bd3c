"""`canon drift`: whether a rendered connector still holds the template's files as they were rendered."""

from connector_canon.drift.comparison import Drift, drift

__all__ = ["Drift", "drift"]
