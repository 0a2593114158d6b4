import torch
x = torch.ones(2, 3)
o = torch.empty(3)
torch.sum(x, 0, out=o)
torch.mean(x, 0, out=o)
p = torch.empty(0, dtype=torch.float64)
torch.sum(x, dim=(1,), dtype=torch.float64, out=p)
