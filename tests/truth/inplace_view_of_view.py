import torch
w = torch.ones(4, requires_grad=True)
x = w * 2
v = x.view(2, 2)
u = v[0]
u.mul_(w[:2])
x.zero_()
v.fill_(2.0)
(v * v).sum().backward()
