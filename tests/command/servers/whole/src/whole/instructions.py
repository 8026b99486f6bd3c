INSTRUCTIONS = """Acts of law. Send your key as X-API-Key. Every answer is ok, degraded or failed.

Call order
1. `coverage` tells what is here.
2. `search_acts(query=…)` finds acts.
"""
