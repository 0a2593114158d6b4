import torch
x = torch.ones(1, 2, 3, 4)
a = torch.empty_like(x, memory_format=torch.channels_last)
b = torch.zeros_like(a)
c = x.contiguous(memory_format=torch.channels_last)
d = torch.empty(1, 2, 3, 4, memory_format=torch.channels_last)
e = c.clone()
f = c.contiguous()
