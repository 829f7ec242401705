// What remarks and the report say of sums that begin in the first iteration of loops around them.
// RUN: %pto_opt --pto-legalize-acc=report-dir=%t.reports --remarks-filter='pto.*' %s -o %t.mlir 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: FileCheck %s --check-prefix=REPORT < %t.reports/f.json

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x512xbf16, #pto.mem<sbuf>>
!acc = memref<128x512xf32, #pto.mem<psum>>
!out = memref<128x512xf32>

// REPORT: "head":6,"decision":"start",{{.*}}"begins_on":"nothing"
// REPORT-SAME: "head":3,{{.*}}"begins_on":"sum"
func.func @f(%w: !w, %x: !x, %out: !out, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = pto.psum_alloc bank(0) : !acc
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      // CHECK-DAG: [[#@LINE+2]]:7: remark: {{.*}}pto.acc-start {{.*}}the outermost of these loops ({{.*}}:[[#@LINE-2]]:3){{.*}}starts in the first iteration of its loops
      // CHECK-DAG: [[#@LINE+1]]:7: remark: {{.*}}pto.acc-stop {{.*}}the outermost of these loops ({{.*}}:[[#@LINE-3]]:3){{.*}}stops in the last iteration of its loops
      pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    }
  }
  pto.copy %a, %out : !acc, !out
  %b = pto.psum_alloc bank(1) : !acc
  // CHECK-DAG: [[#@LINE+1]]:3: remark: {{.*}}pto.acc-start {{.*}}starts: it overwrites all its cells
  pto.tmatmul ins(%w, %x : !w, !x) outs(%b : !acc)
  scf.for %k = %c0 to %n step %c1 {
    // CHECK-DAG: [[#@LINE+1]]:5: remark: {{.*}}pto.acc-seeded {{.*}}adds onto a sum that began before, without a flag
    pto.tmatmul_acc ins(%b, %w, %x : !acc, !w, !x) outs(%b : !acc)
  }
  pto.copy %b, %out : !acc, !out
  return
}
