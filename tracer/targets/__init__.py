"""tracer.targets."""
