"""The gates: what every connector must hold. The template owns this folder: `copier update` replaces it."""
