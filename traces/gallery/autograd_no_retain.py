# autograd.cpp without `y.retain_grad()`: a warning and an undefined gradient; then a second way through freed buffers.
# mean() saves no tensor, so PyTorch 2.13 goes through its graph twice in silence; the product does save its factors.
from engine.cpp import cout, endl, main, torch


def program():
    x = torch.ones([2, 2], torch.requires_grad())
    y = (x * x).mean()
    y.backward()
    cout << y.grad() << endl
    y.backward()


main(program)
