import torch
i = torch.ones(2, dtype=torch.int64)
x = torch.ones(2)
d = torch.ones(2, dtype=torch.float64)
b = torch.ones(2, dtype=torch.bool)
r1 = i + x
r2 = x + d
r3 = i * 2.5
r4 = i / 2
r5 = b + i
r6 = b * x
r7 = i - 1
r8 = i / i
