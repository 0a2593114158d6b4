"""What people (and programs) read of a trace: lines of plain text, and rich renderables."""
