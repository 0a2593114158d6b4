import torch
w = torch.ones(2, 2, requires_grad=True)
x = w.clone()
v = x[0]
v.mul_(3)
x.t().add_(1)
x.sum().backward()
