"""The Python door: what `import polarbear` offers, and what every command stands on.

Each thing a user can ask for is one call here: it opens and locks the store, does the work through
the rooms below, and gives back an object that knows its facts. Nothing here prints or exits.

Uses every room but `cli`; imports them only when they are asked for.
"""
