//! The map as characters.

use std::collections::BTreeMap;

use pto_ir::{InstId, Interval, Program, Target, TextPart};

use super::lives::{Content, Lives, Stay};

/// Characters of one quadrant of one bank.
const CHARACTERS: u32 = 8;

/// What is to be seen at a character: how many rectangles of each content, open or not.
#[derive(Clone, Debug, Default)]
struct Spot {
    contents: Vec<(Content, bool, u32)>,
}

impl Spot {
    fn add(&mut self, content: Content, is_open: bool) {
        let known = |entry: &&mut (Content, bool, u32)| (entry.0, entry.1) == (content, is_open);
        match self.contents.iter_mut().find(known) {
            Some(entry) => entry.2 += 1,
            None => self.contents.push((content, is_open, 1)),
        }
    }

    fn remove(&mut self, content: Content, is_open: bool) {
        let known = |entry: &&mut (Content, bool, u32)| (entry.0, entry.1) == (content, is_open);
        if let Some(entry) = self.contents.iter_mut().find(known) {
            entry.2 -= 1;
        }
        self.contents.retain(|entry| entry.2 > 0);
    }

    /// Values hide what is pending beside them.
    fn character(&self) -> char {
        let mut values = self
            .contents
            .iter()
            .filter(|entry| entry.0 != Content::Pending);
        match (values.next(), values.next()) {
            (None, _) if self.contents.is_empty() => '.',
            (None, _) => '~',
            (Some(_), Some(_)) => '+',
            (Some((Content::Group(group), true, _)), None) => letter(*group),
            (Some((Content::Group(group), false, _)), None) => letter(*group).to_ascii_lowercase(),
            (Some(_), None) => '#',
        }
    }
}

/// The capital of a group. After the last one they begin again: a range says which group it is.
fn letter(group: u32) -> char {
    char::from(b'A' + (group % 26) as u8)
}

/// A change of the grid.
struct Change {
    stay: usize,
    is_open: bool,
    begins: bool,
}

/// The map of `lives`, range by range.
pub(super) fn print(program: &Program, target: &Target, lives: &Lives) -> Vec<TextPart> {
    let count = lives.order.len();
    let header = format!(
        "@{} on {}: {count} instructions, {} groups\n",
        program.name, target.name, lives.groups
    );
    let mut text = vec![TextPart::Text(header)];
    let mut grid = Grid::new(target);
    let mut begin = 0;
    let mut shown = grid.picture();
    let changes = changes(lives);
    for (&time, list) in &changes {
        // Ends first: what goes on has its end and its beginning at one time.
        for begins in [false, true] {
            for change in list.iter().filter(|change| change.begins == begins) {
                grid.change(&lives.stays[change.stay], change.is_open, begins);
            }
        }
        let picture = grid.picture();
        if picture != shown {
            print_range(&mut text, &lives.order, (begin, time), &shown);
            (begin, shown) = (time, picture);
        }
    }
    print_range(&mut text, &lives.order, (begin, count as u32), &shown);
    text
}

fn changes(lives: &Lives) -> BTreeMap<u32, Vec<Change>> {
    let mut changes: BTreeMap<u32, Vec<Change>> = BTreeMap::new();
    for (index, stay) in lives.stays.iter().enumerate() {
        let Interval { start, end } = stay.times;
        for (from, to, is_open) in [
            (start, stay.open_until, true),
            (stay.open_until, end, false),
        ] {
            if from < to {
                for (time, begins) in [(from, true), (to, false)] {
                    let change = Change {
                        stay: index,
                        is_open,
                        begins,
                    };
                    changes.entry(time).or_default().push(change);
                }
            }
        }
    }
    changes
}

/// Banks with something in them, as text, and the groups to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Picture {
    banks: Vec<(usize, String)>,
    groups: Vec<u32>,
}

struct Grid {
    spots: Vec<Vec<Spot>>,
    /// By bank: what [`Self::picture`] showed of it, until it changes.
    drawn: Vec<Option<(String, Vec<u32>)>>,
    quadrants: u32,
    quadrant_partitions: u32,
    character_bytes: u32,
}

impl Grid {
    fn new(target: &Target) -> Self {
        let quadrants = target.partitions / target.quadrant_partitions;
        let banks = target.banks as usize;
        Self {
            spots: vec![vec![Spot::default(); (quadrants * CHARACTERS) as usize]; banks],
            drawn: vec![None; banks],
            quadrants,
            quadrant_partitions: target.quadrant_partitions,
            character_bytes: target.bank_bytes / CHARACTERS,
        }
    }

    fn change(&mut self, stay: &Stay, is_open: bool, begins: bool) {
        let bank = stay.bank as usize;
        self.drawn[bank] = None;
        let meeting = |span: Interval, unit: u32| span.start / unit..span.end.div_ceil(unit);
        for quadrant in meeting(stay.partitions, self.quadrant_partitions) {
            for character in meeting(stay.bytes, self.character_bytes) {
                let spot = &mut self.spots[bank][(quadrant * CHARACTERS + character) as usize];
                match begins {
                    true => spot.add(stay.content, is_open),
                    false => spot.remove(stay.content, is_open),
                }
            }
        }
    }

    fn picture(&mut self) -> Picture {
        let mut picture = Picture::default();
        for bank in 0..self.spots.len() {
            let (spots, quadrants) = (&self.spots[bank], self.quadrants);
            let (text, groups) = self.drawn[bank].get_or_insert_with(|| draw(spots, quadrants));
            if text.contains(|character| !matches!(character, '.' | ' ')) {
                picture.banks.push((bank, text.clone()));
            }
            picture.groups.extend_from_slice(groups);
        }
        picture.groups.sort_unstable();
        picture.groups.dedup();
        picture
    }
}

/// One bank, and the groups in it.
fn draw(spots: &[Spot], quadrants: u32) -> (String, Vec<u32>) {
    let columns = spots.chunks(spots.len() / quadrants as usize);
    let columns: Vec<String> = columns
        .map(|column| column.iter().map(Spot::character).collect())
        .collect();
    let contents = spots.iter().flat_map(|spot| &spot.contents);
    let groups = contents.filter_map(|entry| match entry.0 {
        Content::Group(group) => Some(group),
        Content::Data(_) | Content::Pending => None,
    });
    let mut groups: Vec<u32> = groups.collect();
    groups.sort_unstable();
    groups.dedup();
    (columns.join(" "), groups)
}

/// One range of instructions, unless it is empty.
fn print_range(
    text: &mut Vec<TextPart>,
    order: &[InstId],
    (begin, end): (u32, u32),
    picture: &Picture,
) {
    let range = order.get(begin as usize..end as usize).unwrap_or_default();
    let (Some(&first), Some(&last)) = (range.first(), range.last()) else {
        return;
    };
    text.push(TextPart::Text(match range.len() {
        1 => format!("#{begin} at "),
        _ => format!("#{begin}-#{} at ", end - 1),
    }));
    text.push(TextPart::Location(first));
    if range.len() > 1 {
        text.push(TextPart::Text(" to ".to_owned()));
        text.push(TextPart::Location(last));
    }
    let groups: Vec<String> = picture
        .groups
        .iter()
        .map(|&group| format!("{} group {group}", letter(group)))
        .collect();
    let mut lines = match groups.is_empty() {
        true => "\n".to_owned(),
        false => format!(": {}\n", groups.join(", ")),
    };
    for (bank, row) in &picture.banks {
        lines.push_str(&format!("  bank {bank}  {row}\n"));
    }
    if picture.banks.is_empty() {
        lines.push_str("  nothing\n");
    }
    text.push(TextPart::Text(lines));
}
