"""engine.torch.csrc."""
