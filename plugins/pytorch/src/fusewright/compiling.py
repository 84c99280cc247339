"""What torch.compile leaves out of its graphs."""
from __future__ import annotations

from typing import Any, Callable

import torch

is_compiling = torch.compiler.is_compiling


def uncompiled(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The call as it is without torch.compile: in a function that is compiled the graph ends in front of it."""
    import torch._dynamo  # slow to import; who is here has it

    return torch._dynamo.disable(function)(*arguments, **named)


uncompiled._torchdynamo_disable = True  # type: ignore[attr-defined]  # what torch._dynamo.disable marks, without importing it
