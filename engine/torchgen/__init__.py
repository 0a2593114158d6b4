"""engine.torchgen."""
