import torch
x = torch.ones(2, 2, requires_grad=True)
s = torch.tensor(2.0, requires_grad=True)
y = (x / s + x.t() - s * x[0]).mean()
gx, gs = torch.autograd.grad(y, (x, s), create_graph=True)
(gx.sum() + gs).backward()
