"""Tests of the room `regression`."""
