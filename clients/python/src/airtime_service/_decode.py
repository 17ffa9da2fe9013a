from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_hints = cache(get_type_hints)


def parse_json(text: bytes | bytearray) -> Any:
    """Raises a ValueError. Fractions are exact."""
    try:
        return json.loads(text, parse_float=Decimal)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def decode(kind: type[T], value: object) -> T:
    """A value of a type of models.py, or a ValueError. It ignores fields that it does not know, and takes each text for
    one of an enumeration: a later release of the service may add some."""
    decoded: T = _decode(kind, value)
    return decoded


def _decode(kind: Any, value: Any) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        for each in args:
            try:
                return _decode(each, value)
            except ValueError:
                continue
    elif origin is list and isinstance(value, list):
        return [_decode(args[0], item) for item in value]
    elif hasattr(kind, "__dataclass_fields__") and isinstance(value, dict):
        hints = _hints(kind)
        known = {name: _decode(hint, value.get(name)) for name, hint in hints.items() if name != "additional"}
        if "additional" in hints:
            known["additional"] = {name: value[name] for name in value.keys() - known.keys()}
        return kind(**known)
    elif kind is Decimal and type(value) in (int, Decimal):
        return Decimal(value)
    elif type(value) is (type(args[0]) if origin is Literal else kind):
        return value
    # The value itself may be personal data.
    raise ValueError(f"{type(value).__name__} is not {kind}")
