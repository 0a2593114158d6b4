"""engine.torch.csrc.autograd."""
