"""engine.aten."""
