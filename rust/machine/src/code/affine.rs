//! Affine expressions of scalars: the maps of `affine` and `linalg`.

use smallvec::SmallVec;

/// One step of an expression in postfix order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffineOp {
    /// Push dimension or symbol number `n`; symbols count on from the dimensions.
    Input(u32),
    /// Push a constant.
    Constant(i64),
    /// Replace the two on top by their sum.
    Add,
    /// ... their product.
    Mul,
    /// ... the first divided by the second, rounded down.
    FloorDiv,
    /// ... the first divided by the second, rounded up.
    CeilDiv,
    /// ... the non-negative remainder.
    Mod,
}

/// An expression in postfix order. Postfix, because expressions may nest as deeply as IR does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    steps: Vec<AffineOp>,
}

impl Affine {
    /// The expression with these steps, or `None` if they do not leave exactly one value.
    pub fn new(steps: Vec<AffineOp>) -> Option<Self> {
        let mut depth = 0usize;
        for step in &steps {
            depth = match step {
                AffineOp::Input(_) | AffineOp::Constant(_) => depth + 1,
                _ if depth < 2 => return None,
                _ => depth - 1,
            };
        }
        (depth == 1).then_some(Self { steps })
    }

    /// The expression that is input number `input`.
    pub fn input(input: u32) -> Self {
        Self {
            steps: vec![AffineOp::Input(input)],
        }
    }

    /// The number of the input that the expression consists of, if it is nothing else.
    pub fn as_input(&self) -> Option<u32> {
        match self.steps[..] {
            [AffineOp::Input(input)] => Some(input),
            _ => None,
        }
    }

    /// The constant that the expression consists of, if it is nothing else.
    pub fn as_constant(&self) -> Option<i64> {
        match self.steps[..] {
            [AffineOp::Constant(value)] => Some(value),
            _ => None,
        }
    }

    /// The value for `inputs`, wrapping. `None`: a division or a modulo by zero or less, or an
    /// input that does not exist.
    pub fn eval(&self, inputs: &[i64]) -> Option<i64> {
        if let [AffineOp::Input(input)] = self.steps[..] {
            return inputs.get(input as usize).copied();
        }
        let mut stack: SmallVec<[i64; 8]> = SmallVec::new();
        for step in &self.steps {
            let value = match *step {
                AffineOp::Input(input) => *inputs.get(input as usize)?,
                AffineOp::Constant(value) => value,
                op => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    op.apply(left, right)?
                }
            };
            stack.push(value);
        }
        stack.pop()
    }

    /// The expression as a constant and one coefficient for each of `inputs` inputs, if it is linear.
    pub fn linear(&self, inputs: usize) -> Option<(i64, Vec<i64>)> {
        let mut stack: Vec<(i64, Vec<i64>)> = Vec::new();
        for step in &self.steps {
            let value = match *step {
                AffineOp::Input(input) => {
                    let mut coefficients = vec![0; inputs];
                    *coefficients.get_mut(input as usize)? = 1;
                    (0, coefficients)
                }
                AffineOp::Constant(value) => (value, vec![0; inputs]),
                op => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    op.apply_linear(left, right)?
                }
            };
            stack.push(value);
        }
        stack.pop()
    }
}

impl AffineOp {
    fn apply(self, left: i64, right: i64) -> Option<i64> {
        match self {
            Self::Add => Some(left.wrapping_add(right)),
            Self::Mul => Some(left.wrapping_mul(right)),
            _ if right <= 0 => None,
            Self::FloorDiv => Some(left.div_euclid(right)),
            Self::CeilDiv => {
                let exact = left.rem_euclid(right) == 0;
                Some(left.div_euclid(right) + i64::from(!exact))
            }
            Self::Mod => Some(left.rem_euclid(right)),
            Self::Input(_) | Self::Constant(_) => None,
        }
    }

    fn apply_linear(
        self,
        (left, left_terms): (i64, Vec<i64>),
        (right, right_terms): (i64, Vec<i64>),
    ) -> Option<(i64, Vec<i64>)> {
        let is_constant = |terms: &[i64]| terms.iter().all(|&term| term == 0);
        let both_constant = is_constant(&left_terms) && is_constant(&right_terms);
        match self {
            Self::Add => {
                let sums = left_terms.iter().zip(&right_terms);
                let terms = sums.map(|(l, r)| l.wrapping_add(*r)).collect();
                Some((left.wrapping_add(right), terms))
            }
            Self::Mul => {
                let (factor, constant, terms) = if is_constant(&right_terms) {
                    (right, left, left_terms)
                } else if is_constant(&left_terms) {
                    (left, right, right_terms)
                } else {
                    return None;
                };
                let terms = terms.iter().map(|term| term.wrapping_mul(factor)).collect();
                Some((constant.wrapping_mul(factor), terms))
            }
            _ if both_constant => Some((self.apply(left, right)?, left_terms)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AffineOp::*;
    use super::*;

    #[test]
    fn evaluates_in_postfix() {
        // (d0 floordiv 4) * 3 + (d1 mod 4)
        let steps = vec![
            Input(0),
            Constant(4),
            FloorDiv,
            Constant(3),
            Mul,
            Input(1),
            Constant(4),
            Mod,
            Add,
        ];
        let expr = Affine::new(steps).expect("well formed");
        assert_eq!(expr.eval(&[-1, -1]), Some(0));
        assert_eq!(expr.eval(&[9, 6]), Some(8));
        assert_eq!(expr.eval(&[9]), None);
        assert_eq!(expr.linear(2), None);
        let by_zero = Affine::new(vec![Input(0), Constant(0), CeilDiv]).expect("well formed");
        assert_eq!(by_zero.eval(&[1]), None);
    }

    #[test]
    fn finds_linear_forms() {
        // 2 * d0 + d1 * -3 + 7
        let steps = vec![
            Constant(2),
            Input(0),
            Mul,
            Input(1),
            Constant(-3),
            Mul,
            Add,
            Constant(7),
            Add,
        ];
        let expr = Affine::new(steps).expect("well formed");
        assert_eq!(expr.linear(3), Some((7, vec![2, -3, 0])));
        assert_eq!(expr.eval(&[5, 1, 0]), Some(14));
        assert_eq!(Affine::input(1).as_input(), Some(1));
        assert_eq!(Affine::new(vec![Input(0), Add]), None);
        assert_eq!(Affine::new(vec![]), None);
    }
}
