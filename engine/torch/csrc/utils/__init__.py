"""engine.torch.csrc.utils."""
