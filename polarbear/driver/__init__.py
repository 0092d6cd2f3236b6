"""What ties a configuration to a store: collects runs, infers, steps a race, says how it stands.

Uses everything from `store` down: `racing` decides, this room does.
"""
