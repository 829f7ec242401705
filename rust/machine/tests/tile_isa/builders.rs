//! Legal operations to start from: tiles filled by a rule, blocks on a core.

use pto_machine::tile::contents::{SharedState, SharedTile};
use pto_machine::tile::core::{Block, Core, Register};
use pto_machine::tile::descriptor::{capacity_of_code, smallest_code_for};
use pto_machine::tile::{DataType, Descriptor, Function, Layout, Post, Tile};

/// A tile whose element (r, c) is `f(r, c)`.
pub(crate) fn filled(d: Descriptor, f: impl Fn(u32, u32) -> u64) -> Tile {
    let mut tile = Tile::undefined(d).expect("a tile");
    for r in 0..d.valid_rows {
        for c in 0..d.valid_columns {
            tile.set(r, c, f(r, c));
        }
    }
    tile
}

/// A core and a block on it, made operand by operand.
pub(crate) struct Bench {
    pub(crate) core: Core,
    pub(crate) block: Block,
    next: u8,
}

impl Bench {
    /// A block of the function called `name`. Its destination goes to hand 3, N.
    pub(crate) fn new(name: &str, a_type: DataType, [m, n, k]: [u32; 3]) -> Bench {
        Bench {
            core: Core::new(),
            block: Block {
                function: Function::from_name(name).expect("a function").code(),
                a_type,
                data: None,
                dimensions: [Some(m), Some(n), Some(k)],
                post: Some(Post::default()),
                scalars: None,
                masks: vec![0b1111],
                element: 0,
                stream_ended: true,
                sources: Vec::new(),
                shared: Vec::new(),
                destinations: Vec::new(),
            },
            next: 4,
        }
    }

    /// Adds a Local source in the next register.
    pub(crate) fn local(mut self, tile: Tile) -> Bench {
        let register = Register { tile, mask: 0b1111 };
        assert!(self.core.set_register(self.next, Some(register)));
        self.block.sources.push(self.next);
        self.next += 1;
        self
    }

    /// Adds a Shared source that is ready.
    pub(crate) fn shared(mut self, tile: Tile) -> Bench {
        let name = 40 + self.block.shared.len() as u32;
        let state = SharedState::READY;
        self.core.set_shared(name, SharedTile { tile, state });
        self.block.shared.push(name);
        self
    }

    /// Adds a destination in `hand` that holds `d`.
    pub(crate) fn destination(mut self, hand: u8, d: Descriptor) -> Bench {
        let code = smallest_code_for(d.required_bytes().expect("a size") as u32).expect("a code");
        self.block.destinations.push((hand, code));
        self
    }

    pub(crate) fn post(mut self, post: Post) -> Bench {
        self.block.post = Some(post);
        self
    }
}

/// A CUBE descriptor with the capacity that a destination of its size has.
pub(crate) fn cube(layout: Layout, t: DataType, rows: u32, columns: u32) -> Descriptor {
    let d = Descriptor::cube(layout, t, rows, columns, 0);
    let code = smallest_code_for(d.required_bytes().expect("a size") as u32).expect("a code");
    Descriptor {
        capacity: capacity_of_code(code).expect("a capacity"),
        ..d
    }
}

/// Small whole numbers as FP16 words: `(r * 3 + c * 5) % 7`.
pub(crate) fn small_half(r: u32, c: u32) -> u64 {
    let value = ((r * 3 + c * 5) % 7) as f32;
    u64::from(half_bits(value))
}

/// The FP16 word of a whole number below 2048.
pub(crate) fn half_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    if bits == 0 {
        return 0;
    }
    let exponent = (bits >> 23) as i32 - 127 + 15;
    ((exponent as u32) << 10 | (bits >> 13 & 0x3ff)) as u16
}

/// A legal TMATMUL_ACC of FP16 in CUBE_M16, 16 x 8 x 12.
pub(crate) fn accumulate() -> Bench {
    let [m, n, k] = [16, 8, 12];
    let c = cube(Layout::CubeM16, DataType::Fp32, m, n);
    Bench::new("TMATMUL_ACC", DataType::Fp16, [m, n, k])
        .local(filled(c, |r, _| u64::from((r as f32).to_bits())))
        .local(filled(
            cube(Layout::CubeM16, DataType::Fp16, m, k),
            small_half,
        ))
        .local(filled(
            cube(Layout::CubeN8, DataType::Fp16, k, n),
            small_half,
        ))
        .destination(3, c)
}

/// A legal TMATMUL of FP16 with both operands Shared, 64 x 8 x 16: 16 rows for each element.
pub(crate) fn cooperate() -> Bench {
    let [m, n, k] = [64, 8, 16];
    let shared = |rows, columns| Descriptor::row_major(DataType::Fp16, rows, columns, 0).fitted();
    Bench::new("TMATMUL", DataType::Fp16, [m, n, k])
        .shared(filled(shared(m, k), small_half))
        .shared(filled(shared(k, n), small_half))
        .destination(3, cube(Layout::CubeM16, DataType::Fp32, 16, n))
}
