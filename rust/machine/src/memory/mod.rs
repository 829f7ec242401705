//! The memories of a run: buffers in SBUF, HBM and host memory, those in PSUM, and tiles.
//!
//! Elements travel packed, row-major and little endian, whatever the layout on either side. A
//! buffer lives until it is freed or nothing refers to it: see [`Memory::collect`].

mod host;
mod tiles;
mod view;

use pto_ir::{Interval, Placement};
use smallvec::SmallVec;

pub(crate) use host::HostBuffer;
pub(crate) use tiles::TileBuffer;
pub(crate) use view::{Dim, View};

use crate::code::ElementType;
use crate::concurrency::Access;
use crate::psum::{PeWrite, Psum, PsumBuffer, Region, cell_type};
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
                self.forget(buffer.serial);
            }
        }
        self.collect_at = COLLECT_AFTER + 2 * self.live_bytes;
    }

    /// Ends the life of the buffer of `view`.
    pub(crate) fn deallocate(&mut self, view: &View, site: SiteId) -> Outcome<()> {
        let buffer = self.buffer_mut(view, site)?;
        let (bytes, serial) = (buffer.bytes(), buffer.serial);
        buffer.storage = Storage::Freed(site);
        self.live_bytes -= bytes;
        self.forget(serial);
        Ok(())
    }

    fn forget(&mut self, serial: u64) {
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

    /// The number of the buffer of `view`, which no other buffer has.
    pub(crate) fn serial(&self, view: &View) -> u64 {
        let buffer = self.buffers.get(view.buffer.0 as usize);
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

    /// Reads every element of `view` to `out`, packed.
    pub(crate) fn read(&mut self, view: &View, site: SiteId, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        self.check_defined(view, site)?;
        self.note_access(view, Access::Read);
        let Self { psum, words, .. } = self;
        let buffer = self
            .buffers
            .get(view.buffer.0 as usize)
            .and_then(Option::as_ref);
        match buffer.map(|buffer| (&buffer.storage, buffer.element.bytes())) {
            Some((Storage::Host(host), _)) => gather(host, view, out),
            Some((Storage::Tile(tile), _)) => {
                tile.gather(view, out);
            }
            Some((Storage::Psum(buffer), width)) => {
                for_each_region(view, buffer, |region| {
                    psum.read(buffer, region, site, words)?;
                    for word in &*words {
                        out.extend_from_slice(&word.to_le_bytes()[..width]);
                    }
                    Ok(())
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Every element of `view`, packed; those that hold nothing are zero, and counted.
    pub(crate) fn read_defined(&mut self, view: &View, site: SiteId) -> Outcome<(Vec<u8>, u64)> {
        self.buffer(view, site)?;
        let mut out = Vec::new();
        let mut undefined = 0;
        let Self {
            psum,
            words,
            buffers,
            ..
        } = self;
        let buffer = buffers.get(view.buffer.0 as usize).and_then(Option::as_ref);
        match buffer.map(|buffer| (&buffer.storage, buffer.element.bytes())) {
            Some((Storage::Host(host), _)) => {
                gather(host, view, &mut out);
                if host.is_all_defined() {
                    return Ok((out, 0));
                }
                view.runs().for_each_segment(|start, len| {
                    undefined += (start..start + len)
                        .filter(|&at| host.first_undefined(at, 1).is_some())
                        .count() as u64;
                });
            }
            Some((Storage::Tile(tile), _)) => undefined = tile.gather(view, &mut out),
            Some((Storage::Psum(buffer), width)) => {
                for_each_region(view, buffer, |region| {
                    undefined += psum.read_defined(buffer, region, site, words)?;
                    for word in &*words {
                        out.extend_from_slice(&word.to_le_bytes()[..width]);
                    }
                    Ok(())
                })?;
            }
            _ => {}
        }
        Ok((out, undefined))
    }

    /// The cells of a PSUM buffer hold nothing: neither fresh nor data.
    pub(crate) fn undefine_psum(&mut self, view: &View, site: SiteId) -> Outcome<()> {
        self.buffer(view, site)?;
        let Self { psum, buffers, .. } = self;
        let buffer = buffers
            .get_mut(view.buffer.0 as usize)
            .and_then(Option::as_mut);
        if let Some(Buffer {
            storage: Storage::Psum(buffer),
            ..
        }) = buffer
        {
            psum.undefine(buffer, site);
        }
        Ok(())
    }

    /// Writes the packed elements `bytes` to `view`.
    pub(crate) fn write(&mut self, view: &View, bytes: &[u8], site: SiteId) -> Outcome<()> {
        self.buffer(view, site)?;
        self.note_access(view, Access::Write);
        let Self {
            psum,
            words,
            buffers,
            ..
        } = self;
        let buffer = buffers
            .get_mut(view.buffer.0 as usize)
            .and_then(Option::as_mut);
        match buffer.map(|buffer| (&mut buffer.storage, buffer.element.bytes())) {
            Some((Storage::Host(host), _)) => scatter(host, view, bytes),
            Some((Storage::Tile(tile), _)) => tile.scatter(view, bytes),
            Some((Storage::Psum(buffer), width)) => {
                let mut rest = bytes;
                let regions = regions(view, buffer);
                for region in regions.iter() {
                    let cells = region.width() * region.partitions.len() as usize;
                    let (own, others) = rest.split_at(cells * width);
                    rest = others;
                    words.clear();
                    words.extend(own.chunks_exact(width).map(|chunk| bits_of(chunk) as u32));
                    psum.write(buffer, region, words, site)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The instruction at hand touches the elements of `view`, if its buffer is outside PSUM: what
    /// is inside tells its cells itself.
    pub(crate) fn note_access(&mut self, view: &View, access: Access) {
        let Some(concurrency) = &mut self.psum.concurrency else {
            return;
        };
        let buffer = self.buffers.get(view.buffer.0 as usize);
        let (Some(Some(buffer)), Some((low, high))) = (buffer, view.extent()) else {
            return;
        };
        if matches!(buffer.storage, Storage::Host(_)) {
            // Views lie within their buffers; what is beyond the last number counts as the last.
            let bound = |element: i128| element.clamp(0, i128::from(u32::MAX) - 1) as u32;
            let elements = Interval::new(bound(low), bound(high) + 1);
            concurrency.buffer(buffer.serial, elements, access);
        }
    }

    /// Reads one element.
    pub(crate) fn load(&mut self, view: &View, at: usize, site: SiteId) -> Outcome<u64> {
        self.note_access(&view.one(at), Access::Read);
        let Self { psum, words, .. } = self;
        let buffer = self
            .buffers
            .get(view.buffer.0 as usize)
            .and_then(Option::as_ref);
        match buffer {
            Some(Buffer {
                storage: Storage::Host(host),
                ..
            }) => {
                if !host.is_all_defined() && host.first_undefined(at, 1).is_some() {
                    return Err(self.undefined_element(view, at, site));
                }
                Ok(host.bits(at))
            }
            Some(Buffer {
                storage: Storage::Tile(tile),
                ..
            }) => tile
                .load(at)
                .ok_or_else(|| self.undefined_element(view, at, site)),
            Some(Buffer {
                storage: Storage::Psum(buffer),
                ..
            }) => {
                psum.read(buffer, &cell(buffer, at), site, words)?;
                Ok(words.first().copied().map_or(0, u64::from))
            }
            Some(buffer) => Err(freed_buffer(buffer, freed_at(buffer), site)),
            None => Err(no_buffer(site)),
        }
    }

    /// Writes one element.
    pub(crate) fn store(&mut self, view: &View, at: usize, bits: u64, site: SiteId) -> Outcome<()> {
        self.note_access(&view.one(at), Access::Write);
        let Self { psum, buffers, .. } = self;
        let buffer = buffers
            .get_mut(view.buffer.0 as usize)
            .and_then(Option::as_mut);
        match buffer {
            Some(Buffer {
                storage: Storage::Host(host),
                ..
            }) => {
                host.set_bits(at, bits);
                Ok(())
            }
            Some(Buffer {
                storage: Storage::Tile(tile),
                ..
            }) => {
                tile.store(at, bits);
                Ok(())
            }
            Some(Buffer {
                storage: Storage::Psum(buffer),
                ..
            }) => {
                let region = cell(buffer, at);
                psum.write(buffer, &region, &[bits as u32], site)
            }
            Some(buffer) => Err(freed_buffer(buffer, freed_at(buffer), site)),
            None => Err(no_buffer(site)),
        }
    }

    /// A matmul writes its sums to `region` of the PSUM buffer of `view`.
    pub(crate) fn pe_write(
        &mut self,
        view: &View,
        region: &Region,
        write: &PeWrite<'_>,
    ) -> Outcome<()> {
        let Self { psum, buffers, .. } = self;
        let buffer = buffers
            .get_mut(view.buffer.0 as usize)
            .and_then(Option::as_mut);
        match buffer {
            Some(Buffer {
                storage: Storage::Psum(buffer),
                ..
            }) => psum.pe_write(buffer, region, write),
            _ => Err(no_buffer(write.site)),
        }
    }

    /// An error if an element of a `view` outside PSUM was never written.
    pub(crate) fn check_defined(&self, view: &View, site: SiteId) -> Outcome<()> {
        let mut missing = None;
        let mut look = |first: &dyn Fn(usize, usize) -> Option<usize>| {
            view.runs().for_each_segment(|start, len| {
                missing = missing.or_else(|| first(start, len));
            });
        };
        match &self.buffer(view, site)?.storage {
            Storage::Host(host) if !host.is_all_defined() => {
                look(&|start, len| host.first_undefined(start, len));
            }
            Storage::Tile(tile) if tile.tile().undefined_count() > 0 => {
                look(&|start, len| tile.first_undefined(start, len));
            }
            _ => {}
        }
        match missing {
            Some(at) => Err(self.undefined_element(view, at, site)),
            None => Ok(()),
        }
    }

    fn undefined_element(&self, view: &View, at: usize, site: SiteId) -> Box<Report> {
        let indices = indices_of(view, at);
        let allocated = self.buffers[view.buffer.0 as usize]
            .as_ref()
            .map(|buffer| buffer.site);
        let message = format!("reads element {indices:?}, which was never written");
        let report = Report::failed("pto:read-undefined", site, message);
        Box::new(match allocated {
            Some(at) if at != SiteId::NONE => report.with_note(at, "allocated here"),
            _ => report,
        })
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

    /// Memory it takes, roughly.
    fn bytes(&self) -> u64 {
        match &self.storage {
            Storage::Host(host) => host.bytes().len() as u64,
            Storage::Psum(buffer) => 4 * u64::from(buffer.rows) * u64::from(buffer.columns),
            Storage::Tile(tile) => 8 * tile.len() as u64,
            Storage::Freed(_) => 0,
        }
    }
}

fn gather(host: &HostBuffer, view: &View, out: &mut Vec<u8>) {
    let width = host.width();
    let bytes = host.bytes();
    view.runs().for_each_segment(|start, len| {
        out.extend_from_slice(&bytes[start * width..(start + len) * width]);
    });
}

fn scatter(host: &mut HostBuffer, view: &View, bytes: &[u8]) {
    let width = host.width();
    let mut rest = bytes;
    view.runs().for_each_segment(|start, len| {
        let (own, others) = rest.split_at(len * width);
        host.overwrite(start, len).copy_from_slice(own);
        rest = others;
    });
}

/// The bits of one packed element.
pub(crate) fn bits_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The cells of `view` in order: one region where the view is made of partitions and columns, else
/// cell by cell.
fn regions(view: &View, buffer: &PsumBuffer) -> SmallVec<[Region; 1]> {
    if let Some(region) = view.region(buffer.columns) {
        return std::iter::once(region).collect();
    }
    let mut cells = SmallVec::new();
    view.runs().for_each_segment(|start, len| {
        cells.extend((start..start + len).map(|at| cell(buffer, at)));
    });
    cells
}

fn for_each_region(
    view: &View,
    buffer: &PsumBuffer,
    visit: impl FnMut(&Region) -> Outcome<()>,
) -> Outcome<()> {
    regions(view, buffer).iter().try_for_each(visit)
}

/// The region of one element of a PSUM buffer.
fn cell(buffer: &PsumBuffer, at: usize) -> Region {
    let columns = buffer.columns.max(1) as usize;
    Region::cell((at / columns) as u32, (at % columns) as u32)
}

/// The indices of buffer element `at` in `view`; the first of them where several are.
fn indices_of(view: &View, at: usize) -> Vec<u64> {
    let mut position = 0u64;
    let mut found = None;
    view.runs().for_each_segment(|start, len| {
        if found.is_none() && (start..start + len).contains(&at) {
            found = Some(position + (at - start) as u64);
        }
        position += len as u64;
    });
    let mut rest = found.unwrap_or(0);
    let mut indices: Vec<u64> = view
        .dims
        .iter()
        .rev()
        .map(|dim| {
            let index = rest % dim.size.max(1);
            rest /= dim.size.max(1);
            index
        })
        .collect();
    indices.reverse();
    indices
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
