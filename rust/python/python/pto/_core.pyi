_Message = tuple[str, str, str, list[tuple[str, str]]]
_Array = tuple[int, bool, str, list[int], bytes]

__version__: str

def transform(module: str, pipeline: str) -> tuple[int, str, list[_Message]]: ...
def interpret(
    module: str, options: list[str], inputs: list[tuple[int, list[int], bytes]]
) -> tuple[int, str, list[_Message], list[_Array]]: ...
