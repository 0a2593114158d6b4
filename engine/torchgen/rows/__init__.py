"""engine.torchgen.rows."""
