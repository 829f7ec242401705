//! Reading and writing the elements of a view.
//!
//! Elements travel packed, row-major and little endian, whatever the layout on either side.

use smallvec::SmallVec;

use super::{Buffer, HostBuffer, Memory, Storage, View, freed_at, freed_buffer, no_buffer};
use crate::concurrency::Access;
use crate::psum::{Author, PeWrite, PsumBuffer, Region};
use crate::report::{Outcome, Report, SiteId};

impl Memory {
    /// Reads every element of `view` to `out`, packed.
    pub(crate) fn read(&mut self, view: &View, site: SiteId, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        self.check_size(view, site)?;
        self.check_defined(view, site)?;
        self.note_access(view, Access::Read, site)?;
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
        self.note_iteration(view, Access::Write, site)?;
        self.write_as(Author::Program, view, bytes, site)
    }

    /// As [`Self::write`], of what legalization inserted: the program, and so what its iterations may
    /// do, knows nothing of it.
    pub(crate) fn write_inserted(
        &mut self,
        view: &View,
        bytes: &[u8],
        site: SiteId,
    ) -> Outcome<()> {
        self.buffer(view, site)?;
        self.write_as(Author::Legalization, view, bytes, site)
    }

    fn write_as(&mut self, author: Author, view: &View, bytes: &[u8], site: SiteId) -> Outcome<()> {
        self.note_queue(view, Access::Write);
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
                    psum.write(buffer, region, words, (author, site))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads one element.
    pub(crate) fn load(&mut self, view: &View, at: usize, site: SiteId) -> Outcome<u64> {
        self.note_element(view, at, Access::Read, site)?;
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
        self.note_element(view, at, Access::Write, site)?;
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
                psum.write(buffer, &region, &[bits as u32], (Author::Program, site))
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
        if write.accumulates {
            self.note_iteration(view, Access::Read, write.site)?;
        }
        self.note_iteration(view, Access::Write, write.site)?;
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
pub(super) fn indices_of(view: &View, at: usize) -> Vec<u64> {
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
