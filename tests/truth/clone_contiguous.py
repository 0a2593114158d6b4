import torch
x = torch.ones(2, 3)
a = x.t().clone()
b = x.t().contiguous()
c = x.contiguous()
d = x.expand(2, 2, 3).clone()
e = x[:, 1:].clone(memory_format=torch.contiguous_format)
f = torch.clone(x)
g = x[:, :2].contiguous()
