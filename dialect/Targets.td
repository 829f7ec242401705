//===- Targets.td - The matrix engines, in numbers ---------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every number of a machine is written here and nowhere else. The build makes
// the C++ table from this file; rust/ir/src/target/generated.rs is made from it
// too (dialect/gen_targets.py) and a test compares the two.
//
// PSUM is a grid of cells: a partition times a byte offset. Each partition holds
// `banks` banks of `bankBytes` bytes. The PE array has `peRows` rows (they
// contract) and `peColumns` columns (they become PSUM partitions).
//
//===----------------------------------------------------------------------===//

#ifndef PTO_TARGETS
#define PTO_TARGETS

// One generation of the matrix engine.
class PTO_Target<string targetName, list<string> otherNames = []> {
  // The name in IR and in options, and other names of the same machine.
  string name = targetName;
  list<string> aliases = otherNames;
  // The architecture level; 0 where the generation has none.
  int archLevel = 0;

  // Partitions of PSUM (and of SBUF), and of one quadrant: the unit of start
  // partitions and of column groups.
  int partitions = 128;
  int quadrantPartitions = 32;

  // Banks of PSUM, and bytes of one bank in one partition.
  int banks = 8;
  int bankBytes = 2048;
  // Bytes of one PSUM cell, whatever its element type.
  int cellBytes = 4;

  // Rows (largest K) and columns (largest M) of the PE array.
  int peRows = 128;
  int peColumns = 128;
  // The largest N of one matmul, in cells.
  int maxMovingCells = 512;
  // Legal heights of a tile of the PE array, in rows.
  list<int> rowTiles = [32, 64, 128];
  // Whether the last quadrant alone is a column group (code 0x8).
  bit hasLastQuadrantGroup = true;

  // Whether a matmul carries accumulation-group flags at all.
  bit hasGroupFlags = true;
  // Whether the control byte has the ACCUMULATE bit.
  bit hasAccumulate = false;
  // The largest zero-region code; a region spans 2^code banks.
  int maxZeroRegionCode = 0;
  // Whether PSUM may hold bf16.
  bit hasBf16Psum = false;

  // Times, in cycles of the PE; docs/timing.md says where they are from.
  // For each column of the moving operand, which all rows take at once.
  int peColumnCycles = 1;
  // For each row of the tile when its weights are loaded.
  int weightRowCycles = 1;
  // Whether weights are loaded while the matmul before streams.
  bit fastWeightLoad = true;
  // For each element of a partition, all partitions side by side.
  int vectorElementCycles = 1;
  int scalarElementCycles = 1;
  int gpsimdElementCycles = 1;
  int dmaElementCycles = 1;
}

def PTO_Trn1 : PTO_Target<"trn1", ["sunda", "v2"]> {
  let archLevel = 20;
  let rowTiles = [64, 128];
  let hasLastQuadrantGroup = false;
  let fastWeightLoad = false;
}

def PTO_Trn2 : PTO_Target<"trn2", ["cayman", "gen3", "v3"]> {
  let archLevel = 30;
}

def PTO_Trn3 : PTO_Target<"trn3", ["mariana", "core_v4"]> {
  let archLevel = 40;
  let maxMovingCells = 4096;
  let hasAccumulate = true;
  let maxZeroRegionCode = 3;
  let hasBf16Psum = true;
}

// The generation whose PE accumulates by itself: it has no group flags.
def PTO_NoGroup : PTO_Target<"nogroup"> {
  let hasGroupFlags = false;
}

// The order of the tables, and of the cases of #pto.target.
def PTO_Targets {
  list<PTO_Target> all = [PTO_Trn1, PTO_Trn2, PTO_Trn3, PTO_NoGroup];
}

#endif // PTO_TARGETS
