//===- PTODialect.td - The pto dialect ---------------------*- tablegen -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTO_IR_PTODIALECT
#define PTO_IR_PTODIALECT

include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def PTO_Dialect : Dialect {
  let name = "pto";
  let cppNamespace = "::mlir::pto";
  let summary = "Matmul instructions on buffers with accumulation groups";
  let description = [{
    The buffer level of a matrix engine that accumulates in PSUM. Values are
    `memref`s whose memory space says where they live, so upstream dialects
    (`memref`, `linalg`, `scf`, `affine`, `bufferization`) work around the ops
    unchanged. What is new is what the PE array needs and no upstream op can
    say: which instruction starts an accumulation group, which one stops it,
    how many banks the start zeroes, and which instruction waits for which.

    ```mlir
    %acc = pto.psum_alloc bank(2) : memref<128x512xf32, #pto.mem<psum>>
    pto.tmatmul ins(%w0, %x0 : memref<128x128xbf16, #pto.mem<sbuf>>, memref<128x512xbf16, #pto.mem<sbuf>>)
        outs(%acc : memref<128x512xf32, #pto.mem<psum>>) acc<start>
    pto.tmatmul_acc ins(%acc, %w1, %x1 : ...) outs(%acc : ...) acc<stop>
    ```

    Clauses (`bank(2)`, `acc<start>`, ...) are optional and come in one order;
    the attribute dictionary comes last, in allocations before the colon. A
    clause attribute is never written in the dictionary.

    Attributes of this dialect on other operations:

    | attribute | on | meaning |
    |---|---|---|
    | `pto.target` | a module: `#pto.target` | the machine; absent, the verifiers accept what any target accepts |
    | `pto.bank`, `pto.offset`, `pto.partition` | a function argument in PSUM: i64 | where the caller placed it |
    | `pto.fresh` | a function argument in PSUM: unit | it holds nothing yet; absent, it is plain data |
    | `pto.noalias` | a function argument that is a memref: unit | no other argument and no global shares an element with it |
    | `pto.psum_banks` | a function: `array<i32>` | the banks it touches |
    | `pto.acc_provisional` | a function: unit | its flags are a first guess; legalization derives them again |
    | `pto.acc_legalized` | a function: unit | its flags come from legalization; informative |

    Every error of the verifiers ends in a tag such as `[pto:tile-position]`;
    see docs/diagnostics.md.
  }];

  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;

  let extraClassDeclaration = [{
    // The attributes of this dialect on other operations.
    static constexpr ::llvm::StringLiteral kTargetAttrName = "pto.target";
    static constexpr ::llvm::StringLiteral kBankAttrName = "pto.bank";
    static constexpr ::llvm::StringLiteral kOffsetAttrName = "pto.offset";
    static constexpr ::llvm::StringLiteral kPartitionAttrName = "pto.partition";
    static constexpr ::llvm::StringLiteral kFreshAttrName = "pto.fresh";
    static constexpr ::llvm::StringLiteral kNoAliasAttrName = "pto.noalias";
    static constexpr ::llvm::StringLiteral kPsumBanksAttrName = "pto.psum_banks";
    static constexpr ::llvm::StringLiteral kAccProvisionalAttrName =
        "pto.acc_provisional";
    static constexpr ::llvm::StringLiteral kAccLegalizedAttrName =
        "pto.acc_legalized";

    // The number of this object among those of the process, from 1. It stands
    // for the context, whose address may be that of another one later.
    const uint64_t number = getNextNumber();
    static uint64_t getNextNumber();

    void registerAttributes();
    void registerTypes();
  }];
}

// An enum as an attribute, written `#pto.mnemonic<word>`. Parser and printer are
// in PTOAttributes.cpp, for the sake of one error that lists the words.
class PTO_WordAttr<EnumInfo words, string mnemonic>
    : EnumAttr<PTO_Dialect, words, mnemonic> {
  let assemblyFormat = ?;
  let hasCustomAssemblyFormat = 1;
}

#endif // PTO_IR_PTODIALECT
