"""`canon fleet`: where each of many connectors stands."""

from connector_canon.fleet.rows import Row, examine_all, paths_in

__all__ = ["Row", "examine_all", "paths_in"]
