//! Builds a kernel with melior, legalizes it, proves it, runs it, and reads the result.
//!
//! The kernel is `y[M, N] = sum over tiles t of w_t[K, M]^T . x_t[K, N]`: one accumulation group.

mod pto;

use anyhow::{Context as _, Result, ensure};
use melior::Context;
use melior::dialect::{DialectRegistry, func};
use melior::ir::attribute::{
    DenseI32ArrayAttribute, IntegerAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::{FunctionType, IntegerType};
use melior::ir::{
    Block, BlockLike, Identifier, Location, Module, Operation, Region, RegionLike, Type, Value,
};
use melior::utility::register_all_dialects;

const TILES: usize = 3;
const K: usize = 128;
const M: usize = 4;
const N: usize = 8;

fn main() -> Result<()> {
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    pto::dialect().insert_dialect(&registry);
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.load_all_available_dialects();

    let meant = Kernel::new(&context)?.build()?;
    let module = Kernel::new(&context)?.build()?;
    pto::legalize_acc(&module, "target=trn2")?;
    pto::verify_acc(&module, "target=trn2")?;
    pto::validate_against(&meant, &module, "target=trn2")?;
    println!("{}", module.as_operation());

    let w: Vec<f32> = (0..K * M).map(|i| (i % 5) as f32 - 2.0).collect();
    let x: Vec<f32> = (0..K * N).map(|i| (i % 7) as f32 - 3.0).collect();
    let mut inputs: Vec<&[f32]> = vec![&w; TILES];
    inputs.extend(vec![x.as_slice(); TILES]);
    let values = pto::run(&module, &inputs)?;
    let y = values.last().context("the run gave no arrays")?;

    // Small integers: every sum is exact, whatever its order.
    for (index, &found) in y.iter().enumerate() {
        let (m, n) = (index / N, index % N);
        let product: f32 = (0..K).map(|k| w[k * M + m] * x[k * N + n]).sum();
        let expected = product * TILES as f32;
        ensure!(
            found == expected,
            "y[{m}, {n}]: expected {expected}, found {found}"
        );
    }
    println!("y is right: {} elements, the first is {}", y.len(), y[0]);
    Ok(())
}

/// The kernel's types and places.
struct Kernel<'c> {
    context: &'c Context,
    location: Location<'c>,
}

impl<'c> Kernel<'c> {
    fn new(context: &'c Context) -> Result<Self> {
        let location = Location::unknown(context);
        Ok(Self { context, location })
    }

    fn memref(&self, rows: usize, columns: usize, space: &str) -> Result<Type<'c>> {
        let text = format!("memref<{rows}x{columns}xf32, #pto.mem<{space}>>");
        Type::parse(self.context, &text).with_context(|| format!("no type: {text}"))
    }

    fn build(&self) -> Result<Module<'c>> {
        let mut types = vec![self.memref(K, M, "hbm")?; TILES];
        types.extend(vec![self.memref(K, N, "hbm")?; TILES]);
        types.push(self.memref(M, N, "hbm")?);
        let arguments: Vec<_> = types.iter().map(|&ty| (ty, self.location)).collect();
        let block = Block::new(&arguments);
        let sum = self.alloc(
            &block,
            "pto.psum_alloc",
            self.memref(M, N, "psum")?,
            &[("bank", 0)],
        )?;
        for tile in 0..TILES {
            let w = self.load(
                &block,
                block.argument(tile)?.into(),
                self.memref(K, M, "sbuf")?,
            )?;
            let x = self.load(
                &block,
                block.argument(TILES + tile)?.into(),
                self.memref(K, N, "sbuf")?,
            )?;
            block.append_operation(self.matmul(&[sum, w, x, sum])?);
        }
        block.append_operation(self.copy(sum, block.argument(2 * TILES)?.into())?);
        block.append_operation(func::r#return(&[], self.location));
        let body = Region::new();
        body.append_block(block);
        let module = Module::new(self.location);
        module.body().append_operation(func::func(
            self.context,
            StringAttribute::new(self.context, "main"),
            TypeAttribute::new(FunctionType::new(self.context, &types, &[]).into()),
            body,
            &[],
            self.location,
        ));
        Ok(module)
    }

    /// A fresh buffer.
    fn alloc<'b>(
        &self,
        block: &'b Block<'c>,
        name: &str,
        ty: Type<'c>,
        place: &[(&str, i64)],
    ) -> Result<Value<'c, 'b>> {
        let int = IntegerType::new(self.context, 64).into();
        let place: Vec<_> = place
            .iter()
            .map(|&(name, value)| {
                (
                    Identifier::new(self.context, name),
                    IntegerAttribute::new(int, value).into(),
                )
            })
            .collect();
        let alloc = OperationBuilder::new(name, self.location)
            .add_attributes(&place)
            .add_results(&[ty])
            .build()?;
        Ok(block.append_operation(alloc).result(0)?.into())
    }

    /// `source`, brought to SBUF.
    fn load<'b>(
        &self,
        block: &'b Block<'c>,
        source: Value<'c, 'b>,
        ty: Type<'c>,
    ) -> Result<Value<'c, 'b>> {
        let buffer = self.alloc(block, "pto.sbuf_alloc", ty, &[])?;
        block.append_operation(self.copy(source, buffer)?);
        Ok(buffer)
    }

    fn copy(&self, source: Value<'c, '_>, target: Value<'c, '_>) -> Result<Operation<'c>> {
        Ok(OperationBuilder::new("pto.copy", self.location)
            .add_operands(&[source, target])
            .build()?)
    }

    /// `pto.tmatmul_acc` on accumulator, left, right and destination.
    fn matmul(&self, operands: &[Value<'c, '_>; 4]) -> Result<Operation<'c>> {
        // One operand of each of the first four groups, none of the others.
        let mut groups = [0; 13];
        groups[..4].fill(1);
        let segments = DenseI32ArrayAttribute::new(self.context, &groups).into();
        Ok(OperationBuilder::new("pto.tmatmul_acc", self.location)
            .add_operands(operands)
            .add_attributes(&[(
                Identifier::new(self.context, "operandSegmentSizes"),
                segments,
            )])
            .build()?)
    }
}
