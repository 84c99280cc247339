"""What torch.compile leaves out of its graphs."""
from __future__ import annotations

from typing import Any, Callable

import torch

is_compiling = torch.compiler.is_compiling
# What Dynamo does with the next Python frame; not in old versions of torch. None: nothing.
_frame_callback = getattr(torch._C._dynamo.eval_frame, "get_eval_frame_callback", lambda: None)


def is_near_compiler() -> bool:
    """Whether this frame is traced, or those that it calls would be: behind a break of a graph Python runs, frame by frame
    in front of Dynamo."""
    return is_compiling() or _frame_callback() is not None


def uncompiled(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The call as it is without torch.compile: in a function that is compiled the graph ends in front of it."""
    import torch._dynamo  # slow to import; who is here has it

    return torch._dynamo.disable(function)(*arguments, **named)


uncompiled._torchdynamo_disable = True  # type: ignore[attr-defined]  # what torch._dynamo.disable marks, without importing it
