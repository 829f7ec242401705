//===- TileIsa.cpp - Tables of the tile ISA -------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTO/IR/TileIsa.h"
#include "PTO/IR/PTOOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pto;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

// In the order of the codes, which have gaps.
static constexpr TileTypeInfo typeTable[] = {
    {TileType::f64, "f64", 64, TileClass::none, TileScaling::none},
    {TileType::f32, "f32", 32, TileClass::floating, TileScaling::none},
    {TileType::tf32, "tf32", 32, TileClass::floating, TileScaling::none},
    {TileType::hf32, "!pto.hf32", 32, TileClass::floating, TileScaling::none},
    {TileType::f16, "f16", 16, TileClass::floating, TileScaling::unscaled},
    {TileType::bf16, "bf16", 16, TileClass::floating, TileScaling::unscaled},
    {TileType::hif8, "!pto.hif8", 8, TileClass::floating, TileScaling::none},
    {TileType::f8E4M3FN, "f8E4M3FN", 8, TileClass::floating,
     TileScaling::groupsOf32},
    {TileType::f8E5M2, "f8E5M2", 8, TileClass::floating,
     TileScaling::groupsOf32},
    {TileType::f6E3M2FN, "f6E3M2FN", 8, TileClass::floating, TileScaling::none},
    {TileType::f6E2M3FN, "f6E2M3FN", 8, TileClass::floating, TileScaling::none},
    {TileType::f4E2M1FN, "f4E2M1FN", 4, TileClass::floating,
     TileScaling::groupsOf32},
    {TileType::e1m2, "!pto.e1m2", 4, TileClass::floating,
     TileScaling::groupsOf32},
    {TileType::f8E8M0FNU, "f8E8M0FNU", 8, TileClass::none, TileScaling::none},
    {TileType::hif4, "!pto.hif4", 4, TileClass::none, TileScaling::groupsOf64},
    {TileType::si64, "si64", 64, TileClass::none, TileScaling::none},
    {TileType::si32, "si32", 32, TileClass::none, TileScaling::none},
    {TileType::si16, "si16", 16, TileClass::signedInteger, TileScaling::none},
    {TileType::si8, "si8", 8, TileClass::signedInteger, TileScaling::none},
    {TileType::si4, "si4", 4, TileClass::signedInteger, TileScaling::none},
    {TileType::ui64, "i64", 64, TileClass::none, TileScaling::none},
    {TileType::ui32, "ui32", 32, TileClass::none, TileScaling::none},
    {TileType::ui16, "ui16", 16, TileClass::unsignedInteger, TileScaling::none},
    {TileType::ui8, "ui8", 8, TileClass::unsignedInteger, TileScaling::none},
    {TileType::ui4, "ui4", 4, TileClass::unsignedInteger, TileScaling::none}};

/// The place of each code in the table; the rest of 32 is past its end.
static constexpr std::array<uint8_t, 32> placeOfCode = [] {
  std::array<uint8_t, 32> places{};
  for (size_t place = 0; place < std::size(typeTable); ++place)
    places[static_cast<size_t>(typeTable[place].type)] = place;
  return places;
}();

const TileTypeInfo &mlir::pto::getTileTypeInfo(TileType type) {
  return typeTable[placeOfCode[static_cast<size_t>(type)]];
}

static std::optional<TileType> getIntegerTileType(IntegerType type) {
  if (type.isSignless()) {
    if (type.getWidth() == 64)
      return TileType::ui64;
    return std::nullopt;
  }
  bool isSigned = type.isSigned();
  switch (type.getWidth()) {
  case 4:
    return isSigned ? TileType::si4 : TileType::ui4;
  case 8:
    return isSigned ? TileType::si8 : TileType::ui8;
  case 16:
    return isSigned ? TileType::si16 : TileType::ui16;
  case 32:
    return isSigned ? TileType::si32 : TileType::ui32;
  case 64:
    return isSigned ? TileType::si64 : TileType::ui64;
  default:
    return std::nullopt;
  }
}

std::optional<TileType> mlir::pto::getTileType(Type element) {
  using Result = std::optional<TileType>;
  return TypeSwitch<Type, Result>(element)
      .Case<Float32Type>([](auto) { return TileType::f32; })
      .Case<Float16Type>([](auto) { return TileType::f16; })
      .Case<BFloat16Type>([](auto) { return TileType::bf16; })
      .Case<IntegerType>([](auto type) { return getIntegerTileType(type); })
      .Case<Float8E4M3FNType>([](auto) { return TileType::f8E4M3FN; })
      .Case<Float8E5M2Type>([](auto) { return TileType::f8E5M2; })
      .Case<Float8E8M0FNUType>([](auto) { return TileType::f8E8M0FNU; })
      .Case<Float6E3M2FNType>([](auto) { return TileType::f6E3M2FN; })
      .Case<Float6E2M3FNType>([](auto) { return TileType::f6E2M3FN; })
      .Case<Float4E2M1FNType>([](auto) { return TileType::f4E2M1FN; })
      .Case<FloatTF32Type>([](auto) { return TileType::tf32; })
      .Case<Float64Type>([](auto) { return TileType::f64; })
      .Case<HF32Type>([](auto) { return TileType::hf32; })
      .Case<HiF8Type>([](auto) { return TileType::hif8; })
      .Case<E1M2Type>([](auto) { return TileType::e1m2; })
      .Case<HiF4Type>([](auto) { return TileType::hif4; })
      .Default([](auto) -> Result { return std::nullopt; });
}

std::optional<TileType>
mlir::pto::getTileAccumulator(TileType lhs, TileType rhs, bool isScaled) {
  const TileTypeInfo &left = getTileTypeInfo(lhs);
  const TileTypeInfo &right = getTileTypeInfo(rhs);
  if (isScaled) {
    if (left.scaling == TileScaling::none || right.scaling == TileScaling::none)
      return std::nullopt;
    return TileType::f32;
  }
  if (left.productClass != right.productClass)
    return std::nullopt;
  switch (left.productClass) {
  case TileClass::none:
    return std::nullopt;
  case TileClass::floating:
    return TileType::f32;
  case TileClass::signedInteger:
    return TileType::si32;
  case TileClass::unsignedInteger:
    return TileType::ui32;
  }
  llvm_unreachable("every class has an accumulator or none");
}

//===----------------------------------------------------------------------===//
// Layouts and capacities
//===----------------------------------------------------------------------===//

// Of one cell of a CUBE layout, and the columns of one in cube_n8.
static constexpr int64_t cellBytes = 128;
static constexpr int64_t rightCellColumns = 8;
// Of a CUBE tile, padding included; and of the columns of any.
static constexpr int64_t maxElements = 16384;
static constexpr int64_t maxColumns = 65535;

int64_t mlir::pto::getMaxTileRows(MemorySpace space) {
  switch (space) {
  case MemorySpace::cube_m16:
    return 16;
  case MemorySpace::cube_m32:
    return 32;
  default:
    return 0;
  }
}

static std::optional<int64_t> getRowMajorBytes(unsigned bits, int64_t rows,
                                               int64_t columns) {
  // Row-major tiles store a power of two of columns. Both factors are small
  // enough for the product.
  if (rows > maxColumns || columns > maxColumns)
    return std::nullopt;
  int64_t stored = llvm::PowerOf2Ceil(columns);
  return llvm::divideCeil(rows * stored * bits, 8);
}

std::optional<int64_t> mlir::pto::getTileBytes(MemorySpace space, TileType type,
                                               int64_t rows, int64_t columns) {
  unsigned bits = getTileTypeInfo(type).bits;
  if (rows < 1 || columns < 1)
    return std::nullopt;
  if (space == MemorySpace::shared || type == TileType::ui64)
    return getRowMajorBytes(bits, rows, columns);
  if (bits > 32 || rows > maxColumns || columns > maxColumns)
    return std::nullopt;
  int64_t cellElements = cellBytes * 8 / bits;
  int64_t storedRows, storedColumns;
  if (int64_t maxRows = getMaxTileRows(space)) {
    if (rows > maxRows)
      return std::nullopt;
    storedRows = maxRows;
    storedColumns = llvm::alignToPowerOf2(columns, cellElements / maxRows);
  } else {
    storedRows = llvm::alignToPowerOf2(rows, cellElements / rightCellColumns);
    storedColumns = llvm::alignToPowerOf2(columns, rightCellColumns);
  }
  if (storedColumns > maxColumns || storedRows * storedColumns > maxElements)
    return std::nullopt;
  return storedRows * storedColumns * bits / 8;
}

unsigned mlir::pto::getMaxSizeCode(MemorySpace space) {
  return space == MemorySpace::shared ? 12 : 10;
}

unsigned mlir::pto::getSmallestSizeCode(int64_t bytes) {
  return bytes <= 128 ? 1 : llvm::Log2_64_Ceil(bytes) - 6;
}

//===----------------------------------------------------------------------===//
// Post-processing
//===----------------------------------------------------------------------===//

// By ascending code. What the codes in between are is reserved.
static constexpr PreQuantMode modeTable[] = {
    {0, TileType::f32, TileType::f32, TileParameter::none,
     TileControl::nothing},
    {1, TileType::f32, TileType::f16, TileParameter::none,
     TileControl::saturation},
    {2, TileType::si32, TileType::si8, TileParameter::vector,
     TileControl::everything},
    {3, TileType::si32, TileType::si8, TileParameter::scalar,
     TileControl::everything},
    {4, TileType::si32, TileType::f16, TileParameter::vector,
     TileControl::everything},
    {5, TileType::si32, TileType::f16, TileParameter::scalar,
     TileControl::everything},
    {12, TileType::si32, TileType::si16, TileParameter::vector,
     TileControl::nothing},
    {13, TileType::si32, TileType::si16, TileParameter::scalar,
     TileControl::nothing},
    {16, TileType::f32, TileType::bf16, TileParameter::none,
     TileControl::saturation},
    {17, TileType::si32, TileType::si4, TileParameter::scalar,
     TileControl::everything},
    {18, TileType::si32, TileType::si4, TileParameter::vector,
     TileControl::everything},
    {19, TileType::si32, TileType::si16, TileParameter::scalar,
     TileControl::everything},
    {20, TileType::si32, TileType::si16, TileParameter::vector,
     TileControl::everything},
    {23, TileType::f32, TileType::si8, TileParameter::vector,
     TileControl::everything},
    {24, TileType::f32, TileType::si8, TileParameter::scalar,
     TileControl::everything},
    {25, TileType::f32, TileType::hif8, TileParameter::scalar,
     TileControl::saturation},
    {26, TileType::f32, TileType::f8E4M3FN, TileParameter::scalar,
     TileControl::saturation},
    {27, TileType::f32, TileType::f32, TileParameter::scalar,
     TileControl::everything},
    {28, TileType::f32, TileType::hif8, TileParameter::vector,
     TileControl::saturation},
    {32, TileType::f32, TileType::f16, TileParameter::scalar,
     TileControl::saturation},
    {33, TileType::f32, TileType::f16, TileParameter::vector,
     TileControl::saturation},
    {34, TileType::f32, TileType::bf16, TileParameter::scalar,
     TileControl::saturation},
    {35, TileType::si32, TileType::bf16, TileParameter::scalar,
     TileControl::everything},
    {36, TileType::f32, TileType::bf16, TileParameter::vector,
     TileControl::saturation},
    {37, TileType::f32, TileType::f8E4M3FN, TileParameter::vector,
     TileControl::saturation},
    {38, TileType::f32, TileType::f32, TileParameter::vector,
     TileControl::everything},
    {39, TileType::si32, TileType::bf16, TileParameter::vector,
     TileControl::everything}};

const PreQuantMode *mlir::pto::getPreQuantMode(int64_t code) {
  const PreQuantMode *mode =
      llvm::find_if(modeTable, [&](const PreQuantMode &mode) {
        return static_cast<int64_t>(mode.code) == code;
      });
  return mode == std::end(modeTable) ? nullptr : mode;
}

std::optional<TileParameter> mlir::pto::getActivationParameter(int64_t relu) {
  switch (relu) {
  case 0:
  case 1:
    return TileParameter::none;
  case 2:
    return TileParameter::scalar;
  case 3:
    return TileParameter::vector;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> mlir::pto::getGroupColumns(int64_t code) {
  if (code < 0 || code > 9)
    return std::nullopt;
  return code == 1 ? 8 : code == 0 ? 0 : 16 * (code - 1);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

TileOperands mlir::pto::getTileOperands(TileOpInterface op) {
  TileOperands operands;
  // Most operations have none of the last groups.
  const OpOperand *operand = op->getOpOperands().begin();
  const OpOperand *end = op->getOpOperands().end();
  for (auto [role, size] :
       llvm::zip_equal(op.getGroupRoles(), op.getOperandGroupSizes())) {
    if (operand == end)
      break;
    if (size == 1 && role != TileRole::after)
      operands.values[static_cast<unsigned>(role)] = operand->get();
    operand += size;
  }
  return operands;
}

uint32_t mlir::pto::getTileFunction(TileOpInterface op) {
  constexpr uint32_t matrixVectorBit = 16;
  return op.getFunctionCode() | (op.getGemv() ? matrixVectorBit : 0);
}
