"""One script for each claim about speed and size. Each exits with 1 when its claim does not hold."""
