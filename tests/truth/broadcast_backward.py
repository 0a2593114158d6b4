import torch
x = torch.ones(3, 1, requires_grad=True)
y = torch.ones(4, requires_grad=True)
s = torch.tensor(2.0, requires_grad=True)
(x + y).sum().backward()
(x * y).sum().backward()
(x * s).sum().backward()
(x / s).sum().backward()
(y - s).mean().backward()
