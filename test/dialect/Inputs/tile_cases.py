"""Operations on tiles for tests: a legal one for every variant, and its text.

A case is an operation as a record: its operands by role, each a tile or a scalar,
its attributes and the fields of `post`. The rules of `tile_rules.py` change one
thing in it. Nothing here is taken from the verifier; types, shapes and layouts are
those of docs/tile-isa.md.
"""

import copy
import dataclasses

# The element types of each class, and the accumulator of the class.
FLOATS = [
    "f32", "tf32", "!pto.hf32", "f16", "bf16", "!pto.hif8", "f8E4M3FN", "f8E5M2",
    "f6E3M2FN", "f6E2M3FN", "f4E2M1FN", "!pto.e1m2",
]
SIGNED = ["si16", "si8", "si4"]
UNSIGNED = ["ui16", "ui8", "ui4"]
CLASSES = {"f32": FLOATS, "si32": SIGNED, "ui32": UNSIGNED}
# Sides of block-scaled products: the type, and elements a scale (0: no scale).
SCALED = {
    "f16": 0, "bf16": 0, "f8E4M3FN": 32, "f8E5M2": 32, "f4E2M1FN": 32,
    "!pto.e1m2": 32, "!pto.hif4": 64,
}

OPERATIONS = [
    "tmatmul", "tmatmul_bias", "tmatmul_acc", "tmatmul_mx", "tmatmul_mx_bias",
    "tmatmul_mx_acc",
]
# Whose operands are Shared, or the matrix-vector form.
FORMS = ["local", "right", "both", "gemv"]

SOURCES = ["accumulator", "lhs", "lhs_scale", "rhs", "rhs_scale", "bias"]
POST_OPERANDS = ["c_scale", "row_max_in", "quant", "prelu", "row_max", "group_max"]


@dataclasses.dataclass
class Tile:
    rows: int
    columns: int
    type: str
    space: str
    layout: str = ""
    # The size code of the tile_alloc that makes it; None: an argument.
    size: int | None = None

    def text(self):
        layout = f", {self.layout}" if self.layout else ""
        return (
            f"memref<{self.rows}x{self.columns}x{self.type}{layout}, "
            f"#pto.mem<{self.space}>>"
        )


def ceil_div(dividend, divisor):
    return -(-dividend // divisor)


class Case:
    """One operation. `tiles` maps a role to a Tile, or to "i64"."""

    def __init__(self, operation, form, m_layout="cube_m16", sides=("f16", "f16")):
        self.operation, self.form, self.m_layout = operation, form, m_layout
        self.attributes, self.post, self.tiles = {}, {}, {}
        # Two roles that are one value.
        self.alias = None
        rows = 16 if m_layout == "cube_m16" else 32
        self.m = 1 if form == "gemv" else rows - 3
        self.n, self.k = 16, 64
        # The largest group of which one element has self.m rows.
        self.group = (48 if m_layout == "cube_m16" else 96) + self.m
        if self.is_scaled and sides == ("f16", "f16"):
            sides = ("f8E4M3FN", "!pto.e1m2")
        self.accumulator = next(
            (a for a, types in CLASSES.items() if sides[0] in types), "f32"
        )
        if form == "gemv":
            self.attributes["gemv"] = None
        self.add_sources(*sides)
        self.tiles["dst"] = Tile(self.m, self.n, self.accumulator, m_layout)

    @property
    def is_scaled(self):
        return "_mx" in self.operation

    @property
    def is_accumulating(self):
        return self.operation.endswith("_acc")

    @property
    def shares_left(self):
        return self.form == "both"

    @property
    def shares_right(self):
        return self.form in ("right", "both")

    def add_sources(self, left, right):
        tiles, m, n, k = self.tiles, self.m, self.n, self.k
        rows = self.group if self.shares_left else m
        left_space = "shared" if self.shares_left else self.m_layout
        tiles["lhs"] = Tile(rows, k, left, left_space)
        tiles["rhs"] = Tile(k, n, right, "shared" if self.shares_right else "cube_n8")
        if self.is_scaled:
            self.add_scales(rows, SCALED.get(left, 0), SCALED.get(right, 0))
        if self.is_accumulating:
            tiles["accumulator"] = Tile(m, n, self.accumulator, self.m_layout)
        if self.operation.endswith("_bias"):
            tiles["bias"] = Tile(1, n, self.accumulator, self.m_layout)

    def add_scales(self, rows, left, right):
        def scale(rows, columns, group, is_shared):
            kind = "ui32" if group == 64 else "f8E8M0FNU"
            return Tile(rows, columns, kind, "shared" if is_shared else "cube_m32")

        if left:
            groups = ceil_div(self.k, left)
            self.tiles["lhs_scale"] = scale(rows, groups, left, self.shares_left)
        if right:
            groups = ceil_div(self.k, right)
            shape = (groups, self.n) if self.shares_right else (self.n, groups)
            self.tiles["rhs_scale"] = scale(*shape, right, self.shares_right)

    # Parts of post-processing that are legal together.

    def convert(self, mode, output, parameter):
        """Converts dst; `parameter` is None, "i64" or "vector"."""
        self.post["pre_quant"] = mode
        self.tiles["dst"].type = output
        self.give_parameter("quant", parameter)
        return self

    def activate(self, relu):
        self.post["relu"] = relu
        self.give_parameter("prelu", {2: "i64", 3: "vector"}.get(relu))
        return self

    def give_parameter(self, role, parameter):
        self.tiles.pop(role, None)
        if parameter == "vector":
            self.tiles[role] = Tile(1, self.n, "i64", self.m_layout)
        elif parameter:
            self.tiles[role] = parameter

    def reduce_rows(self, has_init=False):
        self.post["row_max"] = None
        self.tiles["row_max"] = Tile(self.m, 1, self.accumulator, self.m_layout)
        if has_init:
            self.post["row_max_init"] = None
            self.tiles["row_max_in"] = copy.deepcopy(self.tiles["row_max"])
        return self

    def reduce_groups(self, code=1):
        self.post["group_max"] = None
        self.post["group"] = code
        columns = 8 if code == 1 else 16 * (code - 1)
        self.tiles["group_max"] = Tile(
            self.m, ceil_div(self.n, columns), self.accumulator, self.m_layout
        )
        return self

    def scale_accumulator(self):
        self.tiles["c_scale"] = Tile(self.m, 1, "ui8", "cube_m32")
        return self

    def transpose(self, *sides):
        for side in sides:
            self.attributes["trans_a" if side == "lhs" else "trans_b"] = None
            for role in (side, side + "_scale"):
                if tile := self.tiles.get(role):
                    tile.rows, tile.columns = tile.columns, tile.rows
        return self

    # Text.

    def value(self, role):
        if self.alias and role == self.alias[1]:
            role = self.alias[0]
        return "%" + role

    def type(self, role):
        tile = self.tiles[role]
        return tile if isinstance(tile, str) else tile.text()

    def clauses(self):
        present = [role for role in POST_OPERANDS if role in self.tiles]
        return "".join(f" {r}({self.value(r)} : {self.type(r)})" for r in present)

    def dictionary(self):
        def write(fields):
            return ", ".join(k if v is None else f"{k} = {v}" for k, v in fields.items())

        attributes = dict(self.attributes)
        if self.post:
            attributes["post"] = f"#pto.post<{write(self.post)}>"
        return f" {{{write(attributes)}}}" if attributes else ""

    def instruction(self):
        roles = [role for role in SOURCES if role in self.tiles]
        values = ", ".join(self.value(role) for role in roles)
        types = ", ".join(self.type(role) for role in roles)
        return (
            f"pto.{self.operation} ins({values} : {types}) "
            f"outs({self.value('dst')} : {self.type('dst')})"
            f"{self.clauses()}{self.dictionary()}"
        )

    def function(self, name, error=None):
        """The operation in a function; `error` is the end of its message."""
        made, arguments = [], []
        for role, tile in self.tiles.items():
            if self.alias and role == self.alias[1]:
                continue
            if isinstance(tile, Tile) and tile.size is not None:
                # An error about two capacities points to where they come from.
                note = "  // expected-note@+1 {{is allocated here}}\n" if error else ""
                alloc = f"pto.tile_alloc size({tile.size}) : {tile.text()}"
                made.append(f"{note}  %{role} = {alloc}\n")
            else:
                arguments.append(f"%{role}: {self.type(role)}")
        check = ""
        if error:
            check = (
                "  // expected-error-re@+1 {{expected {{.+}}, found {{.+}} "
                f"{error}}}}}\n"
            )
        return (
            f"func.func @{name}({', '.join(arguments)}) {{\n{''.join(made)}{check}"
            f"  {self.instruction()}\n  return\n}}\n"
        )


def variants():
    """Every operation in every form and in both M layouts."""
    for operation in OPERATIONS:
        for form in FORMS:
            for m_layout in ("cube_m16", "cube_m32"):
                yield Case(operation, form, m_layout)


def name_of(case, *parts):
    """A name for a function about `case`."""
    words = [*parts, case.operation, case.form, case.m_layout]
    return "_".join(str(word) for word in words)


def print_cases(functions):
    """Prints functions as the parts of a split input file."""
    print("\n// -----\n\n".join(functions), end="")
