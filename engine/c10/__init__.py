"""engine.c10."""
