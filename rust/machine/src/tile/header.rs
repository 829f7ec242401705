//! The header of a block: its commands in order, collected until the block completes.
//!
//! Most rules are judged at completion, all together. A few belong to the moment a command is
//! executed: B.FPATR comes once, in a matrix block, before any command that binds an operand of
//! some processing element, and its enables must agree. Where they do not, the block is left
//! without B.FPATR.

use super::core::Block;
use super::fault::{Fault, Rule};
use super::fields::{DataAttributes, Post, Scalars};
use super::legality;
use super::revision::Revision;
use super::types::DataType;

/// A command of a block, decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// B.DATR.
    Data(DataAttributes),
    /// B.DIM: dimension 0 to 2 (M, N, K).
    Dimension(usize, u32),
    /// B.FPATR.
    Post(Post),
    /// B.IOR.
    Scalars(Scalars),
    /// B.IOT: up to two sources and a destination.
    Local {
        /// Source registers, in order.
        sources: Vec<u8>,
        /// Hand and size code.
        destination: Option<(u8, u8)>,
        /// The processing elements bound.
        mask: u8,
        /// This command ends the source stream.
        last: bool,
    },
    /// B.IOS: a Shared source.
    Shared {
        /// Its name.
        name: u32,
        /// The processing elements bound.
        mask: u8,
    },
}

/// A block being collected.
#[derive(Clone, Debug)]
pub struct Header {
    revision: Revision,
    is_matrix: bool,
    has_post: bool,
    /// A command has bound operands of some element.
    is_bound: bool,
    block: Block,
}

impl Header {
    /// A matrix block after its BSTART.
    pub fn matrix(function: u8, a_type: DataType, revision: Revision) -> Header {
        Header {
            revision,
            is_matrix: true,
            has_post: false,
            is_bound: false,
            block: Block {
                function,
                a_type,
                data: None,
                dimensions: [None; 3],
                post: None,
                scalars: None,
                masks: Vec::new(),
                element: 0,
                stream_ended: true,
                sources: Vec::new(),
                shared: Vec::new(),
                destinations: Vec::new(),
            },
        }
    }

    /// A block of another engine, of which only the refusal of B.FPATR is known here.
    pub fn other(a_type: DataType, revision: Revision) -> Header {
        Header {
            is_matrix: false,
            ..Header::matrix(0, a_type, revision)
        }
    }

    /// Executes one command.
    ///
    /// # Errors
    /// `pto:tile-fpatr-not-matrix`, `-duplicate`, `-order` or a rule of its fields, for B.FPATR;
    /// `pto:tile-reserved` for a dimension beyond the third.
    pub fn execute(&mut self, command: Command) -> Result<(), Fault> {
        let block = &mut self.block;
        match command {
            Command::Data(data) => block.data = Some(data),
            Command::Dimension(index, value) => match block.dimensions.get_mut(index) {
                Some(dimension) => *dimension = Some(value),
                None => {
                    return Err(Fault::new(
                        Rule::ReservedField,
                        format!("expected dimension 0 to 2, found {index}"),
                    ));
                }
            },
            Command::Post(post) => self.post(post)?,
            Command::Scalars(scalars) => {
                self.is_bound = true;
                block.scalars = Some(scalars);
            }
            Command::Local {
                sources,
                destination,
                mask,
                last,
            } => {
                self.is_bound |= mask != 0;
                block.masks.push(mask);
                block.sources.extend(sources);
                block.destinations.extend(destination);
                block.stream_ended = last;
            }
            Command::Shared { name, mask } => {
                self.is_bound |= mask != 0;
                block.masks.push(mask);
                block.shared.push(name);
            }
        }
        Ok(())
    }

    fn post(&mut self, post: Post) -> Result<(), Fault> {
        let refusal = if !self.is_matrix {
            Some((Rule::ForeignPost, "a matrix block", "another engine's"))
        } else if self.has_post {
            Some((Rule::DuplicatePost, "one B.FPATR", "a second"))
        } else if self.is_bound {
            Some((
                Rule::LatePost,
                "B.FPATR before the first operand",
                "it behind one",
            ))
        } else {
            None
        };
        if let Some((rule, expected, found)) = refusal {
            return Err(Fault::new(
                rule,
                format!("expected {expected}, found {found}"),
            ));
        }
        legality::post_fields(&post, self.revision)?;
        self.has_post = true;
        self.block.post = Some(post);
        Ok(())
    }

    /// The block to be issued.
    pub fn complete(self) -> Block {
        self.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(mask: u8, last: bool) -> Command {
        Command::Local {
            sources: vec![1, 2],
            destination: Some((0, 1)),
            mask,
            last,
        }
    }

    fn tag(header: &mut Header, command: Command) -> Option<&'static str> {
        header.execute(command).err().map(|fault| fault.tag())
    }

    #[test]
    fn post_comes_once_and_first() {
        let post = || Command::Post(Post::default());
        let new = || Header::matrix(0, DataType::Fp16, Revision::Seed);
        let mut h = new();
        assert_eq!(tag(&mut h, post()), None);
        assert_eq!(tag(&mut h, post()), Some("pto:tile-fpatr-duplicate"));
        let mut h = new();
        h.execute(local(0b1111, true)).unwrap();
        assert_eq!(tag(&mut h, post()), Some("pto:tile-fpatr-order"));
        let mut h = new();
        h.execute(local(0, true)).unwrap();
        assert_eq!(tag(&mut h, post()), None);
        let mut h = Header::other(DataType::Fp16, Revision::Seed);
        assert_eq!(tag(&mut h, post()), Some("pto:tile-fpatr-not-matrix"));
    }

    #[test]
    fn an_inconsistent_post_leaves_the_block_without_one() {
        let mut h = Header::matrix(0, DataType::Fp16, Revision::Seed);
        let bad = Post {
            max_abs: true,
            ..Post::default()
        };
        assert_eq!(
            tag(&mut h, Command::Post(bad)),
            Some("pto:tile-post-fields")
        );
        assert_eq!(h.complete().post, None);
    }

    #[test]
    fn commands_add_up_to_a_block() {
        let mut h = Header::matrix(2, DataType::Fp16, Revision::Seed);
        for command in [
            Command::Dimension(1, 8),
            Command::Post(Post::default()),
            local(0b1111, false),
            Command::Shared {
                name: 9,
                mask: 0b1111,
            },
        ] {
            h.execute(command).unwrap();
        }
        assert_eq!(
            tag(&mut h, Command::Dimension(3, 1)),
            Some("pto:tile-reserved")
        );
        let block = h.complete();
        assert_eq!(block.dimensions, [None, Some(8), None]);
        assert_eq!((block.sources, block.shared), (vec![1, 2], vec![9]));
        assert_eq!(block.masks, [0b1111, 0b1111]);
        assert!(!block.stream_ended);
    }
}
