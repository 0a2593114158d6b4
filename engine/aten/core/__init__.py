"""engine.aten.core."""
