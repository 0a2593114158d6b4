import torch
x = torch.ones(2, 2)
x += 1
x -= 1
x *= 2
x /= 2
x.add_(x)
x.neg_()
x.div_(2)
x.sub_(1)
v = x[0]
v.add_(1)
x[1] = 5
x[0, 0] = 3.0
x[:] = torch.ones(2)
