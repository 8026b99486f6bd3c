"""`python -m connector_canon` is `canon`."""

from connector_canon.commands import main

main()
