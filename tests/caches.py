"""What modules have remembered of earlier calls, such as the devices that they found."""

from types import ModuleType


def forget(*modules: ModuleType) -> None:
    """Empties every ``functools.cache`` of these modules."""
    for module in modules:
        for function in list(vars(module).values()):
            if hasattr(function, "cache_clear"):
                function.cache_clear()
