"""The forms a report is given in."""
