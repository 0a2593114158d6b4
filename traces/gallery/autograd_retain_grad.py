# autograd.cpp with `y1.retain_grad(); // core dumped` left in: y1 does not require grad.
from engine.cpp import at, cout, endl, main


def program():
    x1 = at.ones([2, 2])
    cout << x1.requires_grad() << endl  # 0
    y1 = x1.mean()
    cout << y1.requires_grad() << endl  # 0
    y1.retain_grad()


main(program)
