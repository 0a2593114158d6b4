import torch
x = torch.ones(2, 3, requires_grad=True)
x.sum(0).sum().backward()
x.mean().backward()
x.sum(1, keepdim=True).mean().backward()
x.mean(0).sum().backward()
x.t().sum().backward()
(x[0].mean(0)).backward()
