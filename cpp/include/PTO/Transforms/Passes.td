//===- Passes.td - Passes of the pto dialect ---------------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first two bring other dialects here and work on whatever they are given.
// Every other pass works on one function-like operation (FunctionOpInterface) at
// a time. It may be scheduled on such operations, or on anything around them:
// then it runs on every function inside, in parallel where the context allows it.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_TRANSFORMS_PASSES
#define PTO_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

/// The machine to compile for. What it may be is said in one place, the target
/// table, so a wrong name is refused when the pass is set up.
class PTO_TargetOption<string names = "trn1, trn2, trn3 or nogroup">
    : Option<"target", "target", "std::string", /*default=*/"",
             "Target: " # names # ", or an alias of one. Default: the attribute "
             "pto.target around the function, else trn2">;

class PTO_Pass<string name> : Pass<name> {
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::pto::PTODialect"];
}

def PTOBufferize : Pass<"pto-bufferize"> {
  let summary = "One-shot bufferization, where there are tensors";
  let description = [{
    Runs upstream's `one-shot-bufferize` across function boundaries with the
    identity layout, on a module that has tensors; does nothing on any other.
    What was a tensor shares no memory with another argument that is written, so
    the arguments made of tensors are marked with `pto.noalias`. First step of
    `pto-pipeline`.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertLinalgToPTO : Pass<"convert-linalg-to-pto"> {
  let summary = "Contractions of linalg on buffers to matmuls of the PE array";
  let description = [{
    Cuts every contraction on buffers of static shape, named or generic, into
    tiles of the PE array: operands staged through SBUF with K on the partitions,
    one accumulator in PSUM for each tile of the output, drained by a copy that
    converts. A fill of the output with zeros disappears; any other initial value
    is copied into the accumulator first. What is no such contraction stays, with
    a remark why.
  }];
  let options = [
    PTO_TargetOption<>,
    Option<"unroll", "unroll", "bool", /*default=*/"false",
           "Straight-line code instead of loops over tiles">,
    Option<"tileM", "tile-m", "unsigned", /*default=*/"0",
           "Rows of the output in a tile; 0: the columns of the PE array">,
    Option<"tileN", "tile-n", "unsigned", /*default=*/"0",
           "Columns of the output in a tile; 0: the cells of a bank">,
    Option<"tileK", "tile-k", "unsigned", /*default=*/"0",
           "Products summed by one matmul; 0: the rows of the PE array">
  ];
  let statistics = [
    Statistic<"numContractions", "contractions", "Number of contractions converted">,
    Statistic<"numFills", "fills", "Number of zero fills erased">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::pto::PTODialect",
                           "::mlir::scf::SCFDialect"];
}

def PTOOrderColumnTiles : PTO_Pass<"pto-order-column-tiles"> {
  let summary = "Order the column tiles of one matmul";
  let description = [{
    Adds an ordering edge between neighbours of each run of column-tiled matmuls
    (tiles of 128 rows and fewer than 128 columns), so that no later pass tears
    the run apart. A run begins with a tile at the origin and goes on over tiles
    of the same size; any other instruction ends it. Flags are not touched.
  }];
  let options = [
    PTO_TargetOption<>,
    Option<"restartAtOrigin", "restart-at-origin", "bool", /*default=*/"false",
           "A tile at the origin ends the run and begins another">,
    Option<"ignoreOtherEngines", "ignore-other-engines", "bool",
           /*default=*/"false", "Only instructions of the PE end a run">
  ];
  let statistics = [
    Statistic<"numEdges", "edges", "Number of ordering edges added">
  ];
}

def PTOMarkFirst : PTO_Pass<"pto-mark-first"> {
  let summary = "Mark the first matmul of every location, provisionally";
  let description = [{
    Gives the first matmul into each PSUM allocation the flag `start` and every
    later one `none`, by place in the function alone, and marks the function
    with `pto.acc_provisional`. `pto-legalize-acc` derives the final flags.
  }];
  let options = [PTO_TargetOption<>];
  let statistics = [
    Statistic<"numFlags", "flags", "Number of matmuls whose flags changed">
  ];
}

def PTOResetAcc : PTO_Pass<"pto-reset-acc"> {
  let summary = "Take accumulation flags back to auto";
  let description = [{
    Removes accumulate flags and zero regions of every matmul, and the memsets,
    predicates and ordering edges that `pto-legalize-acc` added. Legalizing again
    gives the same text.
  }];
  let options = [PTO_TargetOption<"trn1, trn2, trn3, nogroup or tile">];
  let statistics = [
    Statistic<"numFlags", "flags", "Number of matmuls whose flags changed">,
    Statistic<"numErased", "erased", "Number of memsets erased">
  ];
}

def PTOLegalizeAcc : PTO_Pass<"pto-legalize-acc"> {
  let summary = "Derive accumulation groups: flags, zero regions, memsets";
  let description = [{
    Decides for every matmul whether it begins or ends an accumulation group,
    and which banks its zero region covers, such that the machine computes what
    the program says. Memsets and ordering edges are added where flags alone
    cannot say it. Allocations must be placed and the order final.

    For the target tile: gives matmuls that accumulate in place a destination of
    their own, and takes the accumulator from those onto a tile that holds
    nothing. Tiles and copies are added where one register is not enough, and
    zeros where a loop may begin a sum and goes on with it.
  }];
  let options = [
    PTO_TargetOption<"trn1, trn2, trn3, nogroup or tile">,
    Option<"profile", "profile", "std::string", /*default=*/"\"sound\"",
           "sound, or naive: the bare rule without a time axis, for comparison">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "What would be a warning about the meaning of flags is an error">,
    Option<"stop", "stop", "std::string", /*default=*/"\"chain\"",
           "Where a group ends: chain or cluster">,
    Option<"loops", "loops", "std::string", /*default=*/"\"predicate\"",
           "How a sum begins that a loop adds to: predicate (a START in the "
           "first iteration), memset (zeros before the loop) or peel (first and "
           "last iterations apart; predicates where bounds are not constants)">,
    Option<"collisions", "collisions", "std::string", /*default=*/"\"order\"",
           "Engines that may meet in a bank: order (tokens keep them apart) or "
           "leave">,
    Option<"validate", "validate", "bool", /*default=*/"false",
           "Prove the result equal to the original before changing anything">,
    Option<"reportDir", "report-dir", "std::string", /*default=*/"",
           "Folder for one JSON file a function: chains, clusters, decisions">
  ];
  let statistics = [
    Statistic<"numFlags", "flags", "Number of matmuls whose flags changed">,
    Statistic<"numMemsets", "memsets", "Number of memsets inserted">,
    Statistic<"numEdges", "edges", "Number of ordering edges added">,
    Statistic<"numErased", "erased", "Number of memsets erased">,
    Statistic<"numHeads", "heads", "Number of tile matmuls that begin a group">,
    Statistic<"numTiles", "tiles", "Number of tiles allocated">,
    Statistic<"numCopies", "copies", "Number of copies of tiles inserted">
  ];
}

def PTOVerifyAcc : PTO_Pass<"pto-verify-acc"> {
  let summary = "Prove accumulation flags right, or say what breaks";
  let description = [{
    Follows every cell of PSUM through the function and compares what each
    matmul must do with what its flags make the machine do. Works on any flags,
    also those of other compilers, and changes nothing.
  }];
  let options = [
    PTO_TargetOption<>,
    Option<"model", "model", "std::string", /*default=*/"\"both\"",
           "What START does to cells it does not write: written-bit, "
           "eager-zero or both">,
    Option<"extent", "extent", "std::string", /*default=*/"\"both\"",
           "Partitions that START reaches: group, dst or both">,
    Option<"sticky", "sticky", "bool", /*default=*/"false",
           "Also check a machine whose pending bits outlive the writes of other "
           "engines">,
    Option<"werror", "werror", "bool", /*default=*/"false",
           "Warnings are errors">
  ];
}

def PTOAllocPsum : PTO_Pass<"pto-alloc-psum"> {
  let summary = "Place psum buffers";
  let description = [{
    Gives every unplaced buffer in psum a bank, an offset and a first partition,
    such that no two that hold values at once meet; a `memref.alloc` in psum
    becomes a `pto.psum_alloc`. By default a buffer has whole banks, all of the
    window that a START into it clears. Lowest bank first. Buffers that have a
    place keep it.
  }];
  let options = [
    PTO_TargetOption<>,
    Option<"rotate", "rotate", "bool", /*default=*/"false",
           "Begin each search behind the bank given out last, so that neighbours "
           "do not wait for each other">,
    Option<"pack", "pack", "bool", /*default=*/"false",
           "Several buffers in one bank">,
    Option<"banks", "banks", "std::string", /*default=*/"",
           "The banks that may be used: a-b, both included. Default: all">
  ];
  let statistics = [
    Statistic<"numPlaced", "placed", "Number of buffers placed">
  ];
}

def PTOValidateAgainst : PTO_Pass<"pto-validate-against"> {
  let summary = "Prove that another module gives the same values";
  let description = [{
    Reads the original from a file and pairs its functions with those it runs on,
    by their symbols. The original means what its operations say; the others mean
    what the machine makes of their flags and zero regions. Every value read from
    PSUM must be the same sum of the same products in the same order. Nothing is
    changed.

    A file name alone, `--pto-validate-against=before.mlir`, is short for the
    option `against`.
  }];
  let options = [
    PTO_TargetOption<>,
    Option<"against", "against", "std::string", /*default=*/"",
           "The file with the original, text or bytecode">,
    Option<"sticky", "sticky", "bool", /*default=*/"false",
           "Also run a machine whose pending bits outlive the writes of other "
           "engines">
  ];
}

def PTOSchedule : PTO_Pass<"pto-schedule"> {
  let summary = "Order instructions so that engines run side by side";
  let description = [{
    Reorders the instructions of each block by a list scheduler on the times of
    the target, such that no two change places that access common memory, share a
    zero region or a (bank, quadrant) of psum, or are ordered by a token. Groups
    are contiguous once begun. The order that was there is kept unless the new one
    is shorter.
  }];
  let options = [
    PTO_TargetOption<>,
    Option<"shuffleSeed", "shuffle-seed", "int64_t", /*default=*/"-1",
           "Take a random legal order instead, drawn with this seed: a test mode. "
           "Negative: none">,
    Option<"noaliasArguments", "noalias-arguments", "bool", /*default=*/"false",
           "No caller passes one memory as two arguments, or a global: mark all "
           "memref arguments with pto.noalias">
  ];
  let statistics = [
    Statistic<"numReordered", "reordered", "Number of blocks in a new order">
  ];
}

def PTOPrintPsum : PTO_Pass<"pto-print-psum"> {
  let summary = "Print what lies where in psum, and when";
  let description = [{
    For each range of instructions in which nothing moves, the banks that hold
    something: a column is a quadrant, a character an eighth of a bank. Capitals
    are open groups, small letters sums that are still read, `#` other live
    data, `~` what a START has made pending. Printed to standard error, so that
    standard output is the module alone. Nothing is changed.
  }];
  let options = [PTO_TargetOption<>];
}

def PTODumpDeps : PTO_Pass<"pto-dump-deps"> {
  let summary = "Write the dependences between instructions as a graph";
  let description = [{
    A graph in the DOT language: an arrow from each instruction to those that
    must wait for it, for common cells (the access of a START is its whole zero
    region) and for tokens, which are dashed. `--pto-dump-deps=deps.dot` is
    `--pto-dump-deps=file=deps.dot`. Nothing is changed.
  }];
  let options = [
    PTO_TargetOption<>,
    Option<"file", "file", "std::string", /*default=*/"\"-\"",
           "File to write; - is standard output">
  ];
}

#endif // PTO_TRANSFORMS_PASSES
