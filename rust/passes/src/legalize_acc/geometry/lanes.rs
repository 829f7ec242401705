//! Lanes: what is touched of each quadrant of each bank.

use pto_ir::Interval;

use super::{Geometry, Lanes, Rectangle};

impl Geometry {
    /// The lanes with more than one class: only there can two accesses have no cell in common. Of
    /// quadrants that are always touched together, the first.
    pub(in crate::legalize_acc) fn shared_lanes(&self) -> Lanes {
        self.shared_lanes
    }

    /// The lanes of quadrants (one bit each) of banks.
    pub(in crate::legalize_acc) fn lanes(&self, quadrants: u8, banks: Interval) -> Lanes {
        let per_bank = self.target.partitions / self.target.quadrant_partitions;
        let banks = banks.start..banks.end.min(self.target.banks);
        banks.fold(0, |lanes, bank| {
            lanes | Lanes::from(quadrants) << (bank * per_bank)
        })
    }

    /// The lanes of the hull of a shape's banks that it has cells in; none for [`NONE`].
    pub(in crate::legalize_acc) fn lanes_of(&self, shape: u32) -> Lanes {
        match self.shapes.get(shape as usize) {
            Some(shape) => self.lanes(shape.quadrants, shape.banks),
            None => 0,
        }
    }

    /// The lanes of a rectangle. It may have fewer quadrants than any access: for each there is the one
    /// that stands for it.
    pub(in crate::legalize_acc) fn lanes_of_rectangle(&self, cells: Rectangle) -> Lanes {
        let Interval { start, end } = self.target.quadrants(cells.partitions);
        let bank_bytes = self.target.bank_bytes;
        let first = cells.bytes.start / bank_bytes;
        let last = cells.bytes.end.div_ceil(bank_bytes).min(self.target.banks);
        let per_bank = self.alike.len() / self.target.banks as usize;
        let lanes = (first..last).flat_map(|bank| {
            let alike = &self.alike[bank as usize * per_bank..];
            (start..end).map(move |quadrant| {
                bank as usize * per_bank + alike[quadrant as usize].trailing_zeros() as usize
            })
        });
        lanes.fold(0, |lanes, lane| lanes | 1 << lane)
    }

    pub(super) fn find_shared_lanes(&mut self) {
        let (mut once, mut shared) = (0, 0);
        for class in &self.classes {
            let Interval { start, end } = self.target.quadrants(class.slab);
            let quadrants = ((1u32 << end) - (1u32 << start)) as u8;
            let lanes = self.lanes(quadrants, Interval::new(class.bank, class.bank + 1));
            shared |= once & lanes;
            once |= lanes;
        }
        self.alike = self.alike_quadrants();
        let per_bank = self.strip_of_quadrant.len();
        self.shared_lanes = (0..self.alike.len())
            .filter(|lane| shared >> lane & 1 == 1)
            .map(|lane| lane / per_bank * per_bank + self.alike[lane].trailing_zeros() as usize)
            .fold(0, |lanes, lane| lanes | 1 << lane);
    }

    /// By lane: the quadrants of its bank that every shape and every column group has together with it,
    /// or has not.
    fn alike_quadrants(&self) -> Vec<u8> {
        let per_bank = self.strip_of_quadrant.len();
        let in_strip = |strip: &u8| self.quadrants_of(1 << strip);
        let alike: Vec<u8> = self.strip_of_quadrant.iter().map(in_strip).collect();
        let mut alike = alike.repeat(self.target.banks as usize);
        for shape in &self.shapes {
            for bank in shape.banks.start..shape.banks.end.min(self.target.banks) {
                let lanes = &mut alike[bank as usize * per_bank..][..per_bank];
                for (quadrant, alike) in lanes.iter_mut().enumerate() {
                    *alike &= match shape.quadrants >> quadrant & 1 {
                        1 => shape.quadrants,
                        _ => !shape.quadrants,
                    };
                }
            }
        }
        alike
    }
}
