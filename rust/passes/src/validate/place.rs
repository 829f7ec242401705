//! Where buffers and accesses lie in the banks.

use pto_ir::{AccessId, Alloc, AllocId, Interval, Program, Space, Target};

/// The part of an access in one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) bank: u32,
    /// Partitions of PSUM.
    pub(crate) partitions: Interval,
    /// Bytes within the bank.
    pub(crate) bytes: Interval,
    /// First partition of the buffer.
    first_partition: u32,
    /// First byte of the part, in the buffer.
    first_byte: u32,
}

impl Piece {
    /// A rectangle of the bank, in the buffer's coordinates.
    pub(crate) fn in_buffer(&self, partitions: Interval, bytes: Interval) -> (Interval, Interval) {
        let rows = Interval::new(
            partitions.start - self.first_partition,
            partitions.end - self.first_partition,
        );
        let start = self.first_byte + (bytes.start - self.bytes.start);
        (rows, Interval::new(start, start + bytes.len()))
    }

    /// A rectangle of the buffer, which lies in this piece, in the bank's coordinates.
    pub(crate) fn in_bank(&self, partitions: Interval, bytes: Interval) -> (Interval, Interval) {
        let start = self.bytes.start + (bytes.start - self.first_byte);
        (
            partitions.shifted(self.first_partition),
            Interval::new(start, start + bytes.len()),
        )
    }
}

/// The pieces of every access and every buffer of one program.
pub(crate) struct Places {
    pieces: Vec<Piece>,
    accesses: Vec<(u32, u32)>,
    allocs: Vec<(u32, u32)>,
}

impl Places {
    /// The places of `program`, or the first buffer that has none in the memory of `target`.
    pub(crate) fn new(program: &Program, target: &Target) -> Result<Self, AllocId> {
        let mut places = Self {
            pieces: Vec::new(),
            accesses: Vec::new(),
            allocs: Vec::new(),
        };
        for index in 0..program.accesses().len() {
            let (id, access) = (AccessId::new(index), program.access(AccessId::new(index)));
            let alloc = program.alloc(access.alloc);
            let first = places.pieces.len() as u32;
            if alloc.space == Space::Psum {
                for &span in program.bytes(id) {
                    let placed = places.add(alloc, access.partitions, span, target);
                    placed.ok_or(access.alloc)?;
                }
            }
            places.accesses.push((first, places.pieces.len() as u32));
        }
        for alloc in program.allocs() {
            let first = places.pieces.len() as u32;
            let (rows, bytes) = (
                Interval::new(0, alloc.partitions),
                Interval::new(0, alloc.bytes),
            );
            if alloc.space == Space::Psum {
                // A buffer that nothing touches may be anywhere.
                let _untouched = places.add(alloc, rows, bytes, target);
            }
            places.allocs.push((first, places.pieces.len() as u32));
        }
        Ok(places)
    }

    pub(crate) fn of_access(&self, access: AccessId) -> &[Piece] {
        let (first, end) = self.accesses[access.index()];
        &self.pieces[first as usize..end as usize]
    }

    pub(crate) fn of_alloc(&self, alloc: AllocId) -> &[Piece] {
        let (first, end) = self.allocs[alloc.index()];
        &self.pieces[first as usize..end as usize]
    }

    fn add(
        &mut self,
        alloc: &Alloc,
        rows: Interval,
        span: Interval,
        target: &Target,
    ) -> Option<()> {
        let place = alloc.placement?;
        let base = place
            .bank
            .checked_mul(target.bank_bytes)?
            .checked_add(place.offset)?;
        let start = base.checked_add(span.start)?;
        let end = base.checked_add(span.end)?;
        let partitions = Interval::new(
            rows.start.checked_add(place.partition)?,
            rows.end.checked_add(place.partition)?,
        );
        let fits = end <= target.partition_bytes()
            && partitions.end <= target.partitions
            && rows.end <= alloc.partitions
            && span.end <= alloc.bytes;
        if !fits {
            return None;
        }
        let mut at = start;
        while at < end && !partitions.is_empty() {
            let bank = at / target.bank_bytes;
            let bank_start = bank * target.bank_bytes;
            let stop = end.min(bank_start + target.bank_bytes);
            self.pieces.push(Piece {
                bank,
                partitions,
                bytes: Interval::new(at - bank_start, stop - bank_start),
                first_partition: place.partition,
                first_byte: at - base,
            });
            at = stop;
        }
        Some(())
    }
}
