import torch
x = torch.ones(2, requires_grad=True)
y = torch.ones(2, dtype=torch.float64, requires_grad=True)
(x * y).sum().backward()
(x + y).sum().backward()
(x * torch.tensor([1, 2])).sum().backward()
