// Guards that say "this is the first iteration", in whatever words: the arm that overwrites STARTs, and nothing is cleared.
// Those that do not, or only while no number wraps, leave the sum to begin on zeros.
// RUN: %pto_opt --pto-legalize-acc='target=trn2 validate' %s -o %t.mlir && FileCheck %s < %t.mlir
// RUN: %pto_run --random-inputs --dist=normal --model=reference --output-dir=%t.meaning %s && ls %t.meaning | count 64
// RUN: %pto_run --random-inputs --dist=normal --target=trn2 --output-dir=%t.out %t.mlir && diff -r %t.meaning %t.out

!w = memref<32x16xf32, #pto.mem<sbuf>>
!x = memref<32x16xf32, #pto.mem<sbuf>>
!acc = memref<16x16xf32, #pto.mem<psum>>
!out = memref<16x16xf32>

// CHECK-LABEL: func.func private @eq0(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @eq0(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %c = arith.cmpi eq, %k, %c0 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @sub(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @sub(%w: !w, %x: !x, %out: !out, %n: index, %lb: index, %s: index) {
  %c0 = arith.constant 0 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %n step %s {
    %d = arith.subi %k, %lb : index
    %c = arith.cmpi eq, %d, %c0 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @sub2(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @sub2(%w: !w, %x: !x, %out: !out, %n: index, %lb: index, %s: index) {
  %c0 = arith.constant 0 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %n step %s {
    %d = arith.subi %lb, %k : index
    %c = arith.cmpi eq, %d, %c0 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @sub_ugt(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @sub_ugt(%w: !w, %x: !x, %out: !out, %n: index, %lb: index, %s: index) {
  %c0 = arith.constant 0 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %n step %s {
    %d = arith.subi %k, %lb : index
    %c = arith.cmpi ugt, %d, %c0 : index
    scf.if %c {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @sle(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @sle(%w: !w, %x: !x, %out: !out, %n: index, %lb: index, %s: index) {
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %n step %s {
    %c = arith.cmpi sle, %k, %lb : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @sge_rev(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @sge_rev(%w: !w, %x: !x, %out: !out, %n: index, %lb: index, %s: index) {
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %n step %s {
    %c = arith.cmpi sge, %lb, %k : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @ltstep(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @ltstep(%w: !w, %x: !x, %out: !out, %n: index, %lb: index, %s: index) {
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %n step %s {
    %e = arith.addi %lb, %s : index
    %c = arith.cmpi slt, %k, %e : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @ltstep1(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @ltstep1(%w: !w, %x: !x, %out: !out, %n: index, %lb: index) {
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %n step %c1 {
    %e = arith.addi %lb, %c1 : index
    %c = arith.cmpi slt, %k, %e : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @ltstep_const(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @ltstep_const(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c2 {
    %c = arith.cmpi slt, %k, %c2 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @and2(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @and2(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %p = arith.cmpi eq, %k, %c0 : index
      %q = arith.cmpi eq, %j, %c0 : index
      %c = arith.andi %p, %q : i1
      scf.if %c {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @ori_neg(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @ori_neg(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %p = arith.cmpi ne, %k, %c0 : index
      %q = arith.cmpi ne, %j, %c0 : index
      %c = arith.ori %p, %q : i1
      scf.if %c {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @sel2(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @sel2(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant false
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %p = arith.cmpi eq, %k, %c0 : index
      %q = arith.cmpi eq, %j, %c0 : index
      %c = arith.select %p, %q, %f : i1
      scf.if %c {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @muli2(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @muli2(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %p = arith.cmpi eq, %k, %c0 : index
      %q = arith.cmpi eq, %j, %c0 : index
      %c = arith.muli %p, %q : i1
      scf.if %c {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @notne(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @notne(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant true
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.cmpi ne, %k, %c0 : index
    %c = arith.xori %p, %t : i1
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @cast64(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @cast64(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %e = arith.index_cast %k : index to i64
    %z = arith.constant 0 : i64
    %c = arith.cmpi eq, %e, %z : i64
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @castlt(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @castlt(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c8 step %c1 {
    %e = arith.index_cast %k : index to i32
    %z = arith.constant 1 : i32
    %c = arith.cmpi slt, %e, %z : i32
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @castconst(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @castconst(%w: !w, %x: !x, %out: !out) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %c8 step %c1 {
    %e = arith.index_cast %k : index to i32
    %c = arith.cmpi eq, %e, %i0 : i32
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @backcast(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @backcast(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %m = arith.index_cast %n : index to i32
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %i0 to %m step %i1 : i32 {
    %e = arith.index_cast %k : i32 to index
    %c = arith.cmpi eq, %e, %c0 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @ext(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @ext(%w: !w, %x: !x, %out: !out, %n: index) {
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %m = arith.index_cast %n : index to i32
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %i0 to %m step %i1 : i32 {
    %e = arith.extsi %k : i32 to i64
    %z = arith.constant 0 : i64
    %c = arith.cmpi eq, %e, %z : i64
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @selflag(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @selflag(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant true
  %f = arith.constant false
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.cmpi eq, %k, %c0 : index
    %c = arith.select %p, %t, %f : i1
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @selnum(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @selnum(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.cmpi eq, %k, %c0 : index
    %z = arith.select %p, %c1, %c0 : index
    %c = arith.cmpi ne, %z, %c0 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @extui(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @extui(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.cmpi eq, %k, %c0 : index
    %z = arith.extui %p : i1 to i32
    %c = arith.cmpi ne, %z, %i0 : i32
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @trunc(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @trunc(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.cmpi eq, %k, %c0 : index
    %z = arith.extui %p : i1 to i32
    %c = arith.trunci %z : i32 to i1
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @div(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @div(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c2 {
    %p = arith.divsi %k, %c2 : index
    %c = arith.cmpi eq, %p, %c0 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @nestedif(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @nestedif(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %c = arith.cmpi eq, %k, %c0 : index
      %q = arith.cmpi eq, %j, %c0 : index
      scf.if %q {
        scf.if %c {
          pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
        } else {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
        }
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @iterflag(
// CHECK-NOT: pto.memset
// CHECK: pto.tmatmul ins{{.*}} acc<start> zero_region(0){{$}}
// CHECK-NOT: pto.memset
func.func private @iterflag(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant true
  %f = arith.constant false
  %a = pto.psum_alloc bank(0) : !acc
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%fl = %t) -> (i1) {
    scf.if %fl {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
    scf.yield %f : i1
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @rem2(
// CHECK: pto.memset
func.func private @rem2(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.remui %k, %c2 : index
    %c = arith.cmpi eq, %p, %c0 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @sub_sgt(
// CHECK: pto.memset
func.func private @sub_sgt(%w: !w, %x: !x, %out: !out, %n: index, %lb: index, %s: index) {
  %c0 = arith.constant 0 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %lb to %n step %s {
    %d = arith.subi %k, %lb : index
    %c = arith.cmpi sgt, %d, %c0 : index
    scf.if %c {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @cast(
// CHECK: pto.memset
func.func private @cast(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %e = arith.index_cast %k : index to i32
    %c = arith.cmpi eq, %e, %i0 : i32
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @mul4(
// CHECK: pto.memset
func.func private @mul4(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.muli %k, %c2 : index
    %c = arith.cmpi eq, %p, %c0 : index
    scf.if %c {
      pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
    } else {
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

// CHECK-LABEL: func.func private @sum2(
// CHECK: pto.memset
func.func private @sum2(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %j = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %p = arith.addi %k, %j : index
      %c = arith.cmpi eq, %p, %c0 : index
      scf.if %c {
        pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc)
      } else {
        pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  return
}

func.func @main(%hw: memref<32x16xf32>, %hx: memref<32x16xf32>,
                %p0: !out, %p1: !out, %p2: !out, %p3: !out, %p4: !out, %p5: !out, %p6: !out, %p7: !out,
                %p8: !out, %p9: !out, %p10: !out, %p11: !out, %p12: !out, %p13: !out, %p14: !out, %p15: !out,
                %p16: !out, %p17: !out, %p18: !out, %p19: !out, %p20: !out, %p21: !out, %p22: !out, %p23: !out,
                %p24: !out, %p25: !out, %p26: !out, %p27: !out, %p28: !out, %p29: !out, %p30: !out, %p31: !out,
                %p32: !out, %p33: !out, %p34: !out, %p35: !out, %p36: !out, %p37: !out, %p38: !out, %p39: !out,
                %p40: !out, %p41: !out, %p42: !out, %p43: !out, %p44: !out, %p45: !out, %p46: !out, %p47: !out,
                %p48: !out, %p49: !out, %p50: !out, %p51: !out, %p52: !out, %p53: !out, %p54: !out, %p55: !out,
                %p56: !out, %p57: !out, %p58: !out, %p59: !out, %p60: !out, %p61: !out) {
  %w = pto.sbuf_alloc : !w
  %x = pto.sbuf_alloc : !x
  pto.copy %hw, %w : memref<32x16xf32>, !w
  pto.copy %hx, %x : memref<32x16xf32>, !x
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  call @eq0(%w, %x, %p0, %c5) : (!w, !x, !out, index) -> ()
  call @eq0(%w, %x, %p1, %c2) : (!w, !x, !out, index) -> ()
  call @sub(%w, %x, %p2, %c5, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sub(%w, %x, %p3, %c2, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sub2(%w, %x, %p4, %c5, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sub2(%w, %x, %p5, %c2, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sub_ugt(%w, %x, %p6, %c5, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sub_ugt(%w, %x, %p7, %c2, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sle(%w, %x, %p8, %c5, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sle(%w, %x, %p9, %c2, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sge_rev(%w, %x, %p10, %c5, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sge_rev(%w, %x, %p11, %c2, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @ltstep(%w, %x, %p12, %c5, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @ltstep(%w, %x, %p13, %c2, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @ltstep1(%w, %x, %p14, %c5, %c1) : (!w, !x, !out, index, index) -> ()
  call @ltstep1(%w, %x, %p15, %c2, %c1) : (!w, !x, !out, index, index) -> ()
  call @ltstep_const(%w, %x, %p16, %c5) : (!w, !x, !out, index) -> ()
  call @ltstep_const(%w, %x, %p17, %c2) : (!w, !x, !out, index) -> ()
  call @and2(%w, %x, %p18, %c5) : (!w, !x, !out, index) -> ()
  call @and2(%w, %x, %p19, %c2) : (!w, !x, !out, index) -> ()
  call @ori_neg(%w, %x, %p20, %c5) : (!w, !x, !out, index) -> ()
  call @ori_neg(%w, %x, %p21, %c2) : (!w, !x, !out, index) -> ()
  call @sel2(%w, %x, %p22, %c5) : (!w, !x, !out, index) -> ()
  call @sel2(%w, %x, %p23, %c2) : (!w, !x, !out, index) -> ()
  call @muli2(%w, %x, %p24, %c5) : (!w, !x, !out, index) -> ()
  call @muli2(%w, %x, %p25, %c2) : (!w, !x, !out, index) -> ()
  call @notne(%w, %x, %p26, %c5) : (!w, !x, !out, index) -> ()
  call @notne(%w, %x, %p27, %c2) : (!w, !x, !out, index) -> ()
  call @cast64(%w, %x, %p28, %c5) : (!w, !x, !out, index) -> ()
  call @cast64(%w, %x, %p29, %c2) : (!w, !x, !out, index) -> ()
  call @castlt(%w, %x, %p30) : (!w, !x, !out) -> ()
  call @castlt(%w, %x, %p31) : (!w, !x, !out) -> ()
  call @castconst(%w, %x, %p32) : (!w, !x, !out) -> ()
  call @castconst(%w, %x, %p33) : (!w, !x, !out) -> ()
  call @backcast(%w, %x, %p34, %c5) : (!w, !x, !out, index) -> ()
  call @backcast(%w, %x, %p35, %c2) : (!w, !x, !out, index) -> ()
  call @ext(%w, %x, %p36, %c5) : (!w, !x, !out, index) -> ()
  call @ext(%w, %x, %p37, %c2) : (!w, !x, !out, index) -> ()
  call @selflag(%w, %x, %p38, %c5) : (!w, !x, !out, index) -> ()
  call @selflag(%w, %x, %p39, %c2) : (!w, !x, !out, index) -> ()
  call @selnum(%w, %x, %p40, %c5) : (!w, !x, !out, index) -> ()
  call @selnum(%w, %x, %p41, %c2) : (!w, !x, !out, index) -> ()
  call @extui(%w, %x, %p42, %c5) : (!w, !x, !out, index) -> ()
  call @extui(%w, %x, %p43, %c2) : (!w, !x, !out, index) -> ()
  call @trunc(%w, %x, %p44, %c5) : (!w, !x, !out, index) -> ()
  call @trunc(%w, %x, %p45, %c2) : (!w, !x, !out, index) -> ()
  call @div(%w, %x, %p46, %c5) : (!w, !x, !out, index) -> ()
  call @div(%w, %x, %p47, %c2) : (!w, !x, !out, index) -> ()
  call @nestedif(%w, %x, %p48, %c5) : (!w, !x, !out, index) -> ()
  call @nestedif(%w, %x, %p49, %c2) : (!w, !x, !out, index) -> ()
  call @iterflag(%w, %x, %p50, %c5) : (!w, !x, !out, index) -> ()
  call @iterflag(%w, %x, %p51, %c2) : (!w, !x, !out, index) -> ()
  call @rem2(%w, %x, %p52, %c5) : (!w, !x, !out, index) -> ()
  call @rem2(%w, %x, %p53, %c2) : (!w, !x, !out, index) -> ()
  call @sub_sgt(%w, %x, %p54, %c5, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @sub_sgt(%w, %x, %p55, %c2, %c1, %c2) : (!w, !x, !out, index, index, index) -> ()
  call @cast(%w, %x, %p56, %c5) : (!w, !x, !out, index) -> ()
  call @cast(%w, %x, %p57, %c2) : (!w, !x, !out, index) -> ()
  call @mul4(%w, %x, %p58, %c5) : (!w, !x, !out, index) -> ()
  call @mul4(%w, %x, %p59, %c2) : (!w, !x, !out, index) -> ()
  call @sum2(%w, %x, %p60, %c5) : (!w, !x, !out, index) -> ()
  call @sum2(%w, %x, %p61, %c2) : (!w, !x, !out, index) -> ()
  return
}
