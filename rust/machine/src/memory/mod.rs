//! The memories of a run: buffers in SBUF, HBM and host memory, those in PSUM, and tiles.
//!
//! A buffer lives until it is freed or nothing refers to it: see [`Memory::collect`].

mod access;
mod host;
mod order;
mod tiles;
mod view;

use pto_ir::Placement;

pub(crate) use access::bits_of;
pub(crate) use host::HostBuffer;
pub(crate) use tiles::TileBuffer;
pub(crate) use view::{Dim, Runs, View};

use crate::code::ElementType;
use crate::parallel::{Marks, ParallelLoops};
use crate::psum::{Psum, PsumBuffer, cell_type};
use crate::report::{Outcome, Report, SiteId};

/// A buffer of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BufferId(u32);

impl BufferId {
    /// No buffer.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// A number that no other buffer has at the same time.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

/// What a buffer is.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) element: ElementType,
    /// Where it was allocated.
    pub(crate) site: SiteId,
    /// How a placed SBUF buffer lies over the partitions.
    pub(crate) rows: Option<Rows>,
    /// Distinguishes buffers that had the same place in the table.
    serial: u64,
    /// What parallel iterations did to its elements.
    marks: Marks,
    pub(crate) storage: Storage,
}

/// The partitions of a placed SBUF buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The first partition.
    pub(crate) first: u32,
    /// Elements in each.
    pub(crate) elements: u64,
}

/// What a buffer is, without what is in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) element: ElementType,
    pub(crate) rows: Option<Rows>,
}

/// Where the elements of a buffer are.
#[derive(Debug)]
pub(crate) enum Storage {
    Host(HostBuffer),
    Psum(PsumBuffer),
    Tile(TileBuffer),
    /// Freed at this site.
    Freed(SiteId),
}

/// Bytes that all buffers may take together. Far above what a kernel needs, and low enough that a
/// mistaken shape ends in a message and not in the machine's exhaustion.
pub const MEMORY_LIMIT: u64 = 8 << 30;

/// Bytes allocated before unreachable buffers are looked for.
const COLLECT_AFTER: u64 = 64 << 20;

/// The buffers of a run.
#[derive(Debug)]
pub(crate) struct Memory {
    buffers: Vec<Option<Buffer>>,
    free: Vec<u32>,
    allocations: u64,
    live_bytes: u64,
    collect_at: u64,
    pub(crate) psum: Psum,
    /// The loops whose iterations run in any order.
    pub(crate) parallel: ParallelLoops,
    /// Cells on their way.
    words: Vec<u32>,
}

impl Memory {
    pub(crate) fn new(psum: Psum) -> Self {
        Self {
            buffers: Vec::new(),
            free: Vec::new(),
            allocations: 0,
            live_bytes: 0,
            collect_at: COLLECT_AFTER,
            parallel: ParallelLoops::new(psum.hazards.is_on()),
            psum,
            words: Vec::new(),
        }
    }

    /// A buffer of `len` elements that hold nothing.
    pub(crate) fn allocate(&mut self, kind: Kind, len: u64, site: SiteId) -> Outcome<BufferId> {
        let width = kind.element.bytes();
        let bytes = len.saturating_mul(width as u64);
        let host = self
            .has_room(bytes)
            .then(|| HostBuffer::new(len as usize, width))
            .flatten()
            .ok_or_else(|| out_of_memory(bytes, site))?;
        Ok(self.insert(kind, Storage::Host(host), site))
    }

    /// A buffer of `len` elements that hold the packed elements `contents`, repeated if it is one.
    pub(crate) fn allocate_filled(
        &mut self,
        kind: Kind,
        len: u64,
        contents: &[u8],
        site: SiteId,
    ) -> Outcome<BufferId> {
        let width = kind.element.bytes();
        let bytes = len.saturating_mul(width as u64);
        if !self.has_room(bytes) {
            return Err(out_of_memory(bytes, site));
        }
        let contents = if contents.len() == width {
            contents.repeat(len as usize)
        } else {
            contents.to_vec()
        };
        let host = HostBuffer::with_contents(contents, width);
        Ok(self.insert(kind, Storage::Host(host), site))
    }

    /// An error if the elements of `view`, one by one, take more bytes than all buffers may: those of a
    /// view that has elements several times.
    pub(crate) fn check_size(&self, view: &View, site: SiteId) -> Outcome<()> {
        let width = self.buffer(view, site)?.element.bytes();
        let bytes = view.len().saturating_mul(width as u64);
        if bytes <= MEMORY_LIMIT {
            return Ok(());
        }
        let limit = MEMORY_LIMIT >> 30;
        let message = format!("moves {bytes} bytes at once, the limit is {limit} GiB");
        Err(Box::new(Report::unusable(
            "pto:memory-limit",
            site,
            message,
        )))
    }

    fn has_room(&self, bytes: u64) -> bool {
        self.live_bytes.saturating_add(bytes) <= MEMORY_LIMIT
    }

    /// A PSUM buffer of `rows` partitions with `columns` fresh cells each.
    pub(crate) fn allocate_psum(
        &mut self,
        element: ElementType,
        (rows, columns): (u64, u64),
        placement: Option<Placement>,
        site: SiteId,
    ) -> Outcome<BufferId> {
        let Some(cells) = cell_type(element) else {
            let message = format!("psum holds f32, bf16 or i32, not {element}");
            return Err(Box::new(Report::unusable(
                "pto:element-type",
                site,
                message,
            )));
        };
        let shape = self.psum.check_shape(rows, columns, placement, site)?;
        let buffer = self.psum.allocate(element, cells, shape, placement, site);
        let kind = Kind {
            element,
            rows: None,
        };
        Ok(self.insert(kind, Storage::Psum(buffer), site))
    }

    /// A buffer of the tile `tile`.
    pub(crate) fn allocate_tile(
        &mut self,
        element: ElementType,
        tile: TileBuffer,
        site: SiteId,
    ) -> BufferId {
        let kind = Kind {
            element,
            rows: None,
        };
        self.insert(kind, Storage::Tile(tile), site)
    }

    /// The tiles that exist.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = &TileBuffer> {
        let storages = self.buffers.iter().flatten().map(|buffer| &buffer.storage);
        storages.filter_map(|storage| match storage {
            Storage::Tile(tile) => Some(tile),
            _ => None,
        })
    }

    /// Copies from tile to tile of one type with all bits of the words, which elements do not show.
    /// Whether it did: `false` where one of the two is something else.
    pub(crate) fn copy_tile(&mut self, from: &View, to: &View, site: SiteId) -> Outcome<bool> {
        self.check_defined(from, site)?;
        let (Storage::Tile(source), Storage::Tile(target)) = (
            &self.buffer(from, site)?.storage,
            &self.buffer(to, site)?.storage,
        ) else {
            return Ok(false);
        };
        if source.data_type() != target.data_type() {
            return Ok(false);
        }
        let (words, _) = source.words(from);
        if let Some(target) = self.tile_mut(to) {
            target.scatter_words(to, &words);
        }
        Ok(true)
    }

    /// The tile of `view`, to be overwritten; `None` where it is none.
    pub(crate) fn tile_mut(&mut self, view: &View) -> Option<&mut TileBuffer> {
        match self
            .buffers
            .get_mut(view.buffer.0 as usize)?
            .as_mut()?
            .storage
        {
            Storage::Tile(ref mut tile) => Some(tile),
            _ => None,
        }
    }

    fn insert(&mut self, kind: Kind, storage: Storage, site: SiteId) -> BufferId {
        self.allocations += 1;
        let buffer = Buffer {
            element: kind.element,
            rows: kind.rows,
            site,
            serial: self.allocations,
            marks: Marks::default(),
            storage,
        };
        self.live_bytes += buffer.bytes();
        match self.free.pop() {
            Some(slot) => {
                self.buffers[slot as usize] = Some(buffer);
                BufferId(slot)
            }
            None => {
                self.buffers.push(Some(buffer));
                BufferId(self.buffers.len() as u32 - 1)
            }
        }
    }

    /// Whether enough was allocated to look for buffers that nothing refers to.
    pub(crate) fn wants_collection(&self) -> bool {
        self.live_bytes >= self.collect_at
    }

    /// Drops every buffer that is not among `roots`.
    pub(crate) fn collect(&mut self, roots: impl Iterator<Item = BufferId>) {
        let mut is_root = vec![false; self.buffers.len()];
        for BufferId(slot) in roots.filter(|&id| id != BufferId::NONE) {
            is_root[slot as usize] = true;
        }
        for (slot, keep) in is_root.into_iter().enumerate() {
            if keep {
                continue;
            }
            if let Some(buffer) = self.buffers[slot].take() {
                self.live_bytes -= buffer.bytes();
                self.free.push(slot as u32);
                self.forget(buffer.serial, &buffer.marks);
            }
        }
        self.collect_at = COLLECT_AFTER + 2 * self.live_bytes;
    }

    /// Ends the life of the buffer of `view`.
    pub(crate) fn deallocate(&mut self, view: &View, site: SiteId) -> Outcome<()> {
        let buffer = self.buffer_mut(view, site)?;
        let (bytes, serial) = (buffer.bytes(), buffer.serial);
        let marks = std::mem::take(&mut buffer.marks);
        buffer.storage = Storage::Freed(site);
        let freed = bytes - buffer.bytes();
        self.live_bytes -= freed;
        self.forget(serial, &marks);
        Ok(())
    }

    fn forget(&mut self, serial: u64, marks: &Marks) {
        self.parallel.forget(marks);
        if let Some(concurrency) = &mut self.psum.concurrency {
            concurrency.forget(serial);
        }
    }

    /// The buffer of `view`, unless it was freed.
    pub(crate) fn buffer(&self, view: &View, site: SiteId) -> Outcome<&Buffer> {
        let buffer = self
            .buffers
            .get(view.buffer.0 as usize)
            .and_then(Option::as_ref);
        match buffer {
            Some(buffer) => match buffer.storage {
                Storage::Freed(freed) => Err(freed_buffer(buffer, freed, site)),
                _ => Ok(buffer),
            },
            None => Err(no_buffer(site)),
        }
    }

    /// The number of the last buffer that was allocated: those that come have larger ones.
    pub(crate) fn last_serial(&self) -> u64 {
        self.allocations
    }

    /// The number of the buffer of `view`, which no other buffer has.
    pub(crate) fn serial(&self, view: &View) -> u64 {
        self.serial_of(view.buffer)
    }

    /// As [`Self::serial`], of the buffer itself.
    pub(crate) fn serial_of(&self, id: BufferId) -> u64 {
        let buffer = self.buffers.get(id.0 as usize);
        buffer
            .and_then(Option::as_ref)
            .map_or(0, |buffer| buffer.serial)
    }

    /// Where the elements of `view` are, if it is a view of a buffer.
    pub(crate) fn storage(&self, view: &View) -> Option<&Storage> {
        let buffer = self.buffers.get(view.buffer.0 as usize)?.as_ref()?;
        Some(&buffer.storage)
    }

    fn buffer_mut(&mut self, view: &View, site: SiteId) -> Outcome<&mut Buffer> {
        let buffer = self
            .buffers
            .get_mut(view.buffer.0 as usize)
            .and_then(Option::as_mut);
        match buffer {
            Some(buffer) => match buffer.storage {
                Storage::Freed(freed) => Err(freed_buffer(buffer, freed, site)),
                _ => Ok(buffer),
            },
            None => Err(no_buffer(site)),
        }
    }
}

impl Buffer {
    /// Distinguishes it from every other buffer of the run.
    pub(crate) const fn serial(&self) -> u64 {
        self.serial
    }

    /// The elements of a buffer outside PSUM, with a number for their contents: what has the same
    /// number is the same.
    pub(crate) fn host(&self) -> Option<(&HostBuffer, (u64, u64))> {
        match &self.storage {
            Storage::Host(host) => Some((host, (self.serial, host.version()))),
            _ => None,
        }
    }

    /// Memory it takes, roughly; something also where it is empty or freed, so that there is an end to
    /// such buffers.
    fn bytes(&self) -> u64 {
        let contents = match &self.storage {
            Storage::Host(host) => host.bytes().len() as u64,
            Storage::Psum(buffer) => 4 * u64::from(buffer.rows) * u64::from(buffer.columns),
            Storage::Tile(tile) => 8 * tile.len() as u64,
            Storage::Freed(_) => 0,
        };
        contents + size_of::<Self>() as u64
    }
}

fn freed_at(buffer: &Buffer) -> SiteId {
    match buffer.storage {
        Storage::Freed(site) => site,
        _ => SiteId::NONE,
    }
}

fn out_of_memory(bytes: u64, site: SiteId) -> Box<Report> {
    let limit = MEMORY_LIMIT >> 30;
    let message = format!("an allocation of {bytes} bytes exceeds the limit of {limit} GiB in all");
    Box::new(Report::unusable("pto:memory-limit", site, message))
}

fn freed_buffer(buffer: &Buffer, freed: SiteId, site: SiteId) -> Box<Report> {
    let report = Report::failed(
        "pto:use-after-free",
        site,
        "uses a buffer after it was freed",
    );
    Box::new(
        report
            .with_note(freed, "freed here")
            .with_note(buffer.site, "allocated here"),
    )
}

fn no_buffer(site: SiteId) -> Box<Report> {
    Box::new(Report::failed(
        "pto:use-after-free",
        site,
        "uses a memref that has no buffer",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hazards::HazardPolicy;
    use crate::psum::Meanings;

    #[test]
    fn empty_and_freed_buffers_do_not_pile_up() {
        let target = pto_ir::Target::from_name("trn2").expect("a target");
        let psum = Psum::new(target, &Meanings::default(), HazardPolicy::Off);
        let mut memory = Memory::new(psum);
        let kind = Kind {
            element: ElementType::F32,
            rows: None,
        };
        for len in [0, 4] {
            let mut count = 0;
            while !memory.wants_collection() {
                let buffer = memory.allocate(kind, len, SiteId::NONE).expect("room");
                if let Some(view) = View::row_major(buffer, &[len]) {
                    memory.deallocate(&view, SiteId::NONE).expect("a buffer");
                }
                count += 1;
                assert!(count < 1 << 20, "so many buffers of {len} elements");
            }
            memory.collect(std::iter::empty());
            assert_eq!(memory.live_bytes, 0);
        }
    }
}
