// What predicates cost: two comparisons and an addition a loop, two conjunctions a loop inside another, however many
// sums and matmuls ask.
// RUN: %pto_opt --pto-legalize-acc='target=trn3 validate' %s -o %t.mlir
// RUN: grep -o "arith[.][a-z]*.*pto.inserted" %t.mlir | sed "s/ .*//" | sort | uniq -c | FileCheck %s --implicit-check-not=arith
// CHECK: 4 arith.addi
// CHECK: 6 arith.andi
// CHECK: 8 arith.cmpi
// RUN: FileCheck %s --check-prefix=FLAGS < %t.mlir

!w = memref<32x16xf32, #pto.mem<sbuf>>
!x = memref<32x32xf32, #pto.mem<sbuf>>
!acc = memref<16x32xf32, #pto.mem<psum>>
!out = memref<16x32xf32>

// Three sums in one bank share a START, the one in another bank has its own.
// FLAGS-NOT: pto.memset
// FLAGS: start_if(%[[FIRST:[0-9]+]])
// FLAGS-NOT: start_if
// FLAGS: start_if(%[[FIRST]])
// FLAGS-NOT: start_if
func.func @f(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.psum_alloc bank(0) : !acc
  %b = pto.psum_alloc bank(0) offset(128) : !acc
  %c = pto.psum_alloc bank(0) offset(256) : !acc
  %d = pto.psum_alloc bank(1) : !acc
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %n step %c1 {
        scf.for %l = %c0 to %n step %c1 {
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
          pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
          pto.tmatmul_acc ins(%d, %w, %x : !acc, !w, !x) outs(%d : !acc)
          pto.tmatmul_acc ins(%c, %w, %x : !acc, !w, !x) outs(%c : !acc)
          pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
          pto.tmatmul_acc ins(%d, %w, %x : !acc, !w, !x) outs(%d : !acc)
        }
      }
    }
  }
  pto.copy %a, %out : !acc, !out
  pto.copy %b, %out : !acc, !out
  pto.copy %c, %out : !acc, !out
  pto.copy %d, %out : !acc, !out
  return
}
