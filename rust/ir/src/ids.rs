//! Typed indices into the arenas of a [`Program`](crate::Program).

macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of the arena entry at `index`.
            ///
            /// An arena holds fewer than 2^32 entries: the builder refuses more.
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }

            /// The position in the arena.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

define_id!(
    /// An instruction, or one of the transparent markers (allocation, deallocation).
    InstId,
    "i"
);
define_id!(
    /// A block of a region.
    BlockId,
    "b"
);
define_id!(
    /// A region: the function's body, or a region of an instruction that holds some.
    RegionId,
    "r"
);
define_id!(
    /// A buffer in one memory.
    AllocId,
    "a"
);
define_id!(
    /// A question that decides where control goes.
    QuestionId,
    "q"
);
define_id!(
    /// An interned access: equal ids of one program mean equal cells.
    AccessId,
    "x"
);
