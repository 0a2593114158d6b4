"""engine.aten.native."""
