"""Calling a function by its address: each is compiled when an instance of it is first built."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

ARGUMENTS = (types.float64[::1],) * 4  # a point, the instance's numbers, and room for two vectors


def address_of(loop: Any) -> int:
    """Where the machine code of a function is, compiled or loaded if it was not yet."""
    loop.compile(ARGUMENTS)
    found = loop.get_compile_result(types.float64(*ARGUMENTS))
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_cfunc_wrapper_name))


@intrinsic
def height_at(typing_context: Any, address: Any, x: Any, numbers: Any, z: Any, other: Any) -> Any:
    """What the function at this address returns."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = [context.get_value_type(kind) for kind in ARGUMENTS]
        function = ir.FunctionType(ir.DoubleType(), kinds)
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), args[1:])

    return types.float64(types.int64, *ARGUMENTS), generate


@intrinsic
def on_the_stack(typing_context: Any, size: Any) -> Any:
    """Room for so many numbers, until the function that asks for it returns."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.alloca(ir.DoubleType(), args[0])

    pointer = types.CPointer(types.float64)  # type: ignore[no-untyped-call]
    return pointer(types.int64), generate


@intrinsic
def uncounted(typing_context: Any, array: Any) -> Any:
    """An array of which it is not counted who uses it, since that takes as long as some products.

    Only for what whoever has called keeps until it is done.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        counter = args[0].type.elements[0]
        return builder.insert_value(args[0], counter(None), 0)

    return array(array), generate
