"""tracer.commands."""
