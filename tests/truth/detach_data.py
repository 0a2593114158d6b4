import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
z = y.detach()
z.add_(1)
y.detach_()
d = x.data
x.data = torch.zeros(2)
w = y.requires_grad_()
(w * 2).sum().backward()
