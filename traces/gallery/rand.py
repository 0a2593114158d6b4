# The article's first lines: a plain tensor, and a differentiable one.
import torch

a = torch.rand(3, 4)
print(a.requires_grad)
a = torch.rand(3, 4, requires_grad=True)
print(a.requires_grad)
