"""What every connector has in common. The template owns this package: `copier update` replaces it.

Nothing here knows the connector it serves; what differs comes in as an argument.
"""
