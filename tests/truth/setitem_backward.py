import torch
w = torch.ones(2, requires_grad=True)
x = torch.zeros(2, 2)
x[0] = w
x[1] = 1.0
x[1, 1] = w[0]
x.sum().backward()
