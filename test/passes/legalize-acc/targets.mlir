// The target: an option wins over the module, the module over the default.
// RUN: %pto_opt --pto-legalize-acc -split-input-file %s | FileCheck %s
// RUN: %pto_opt --pto-legalize-acc=target=trn2 -split-input-file %s | FileCheck %s --check-prefix=OPTION
// RUN: %pto_opt --pto-legalize-acc=target=nogroup -split-input-file %s | FileCheck %s --check-prefix=NOGROUP

!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
!out = memref<128x128xf32>
module attributes {pto.target = #pto.target<trn3>} {
  // CHECK-LABEL: func.func @module_target
  // OPTION-LABEL: func.func @module_target
  // NOGROUP-LABEL: func.func @module_target
  func.func @module_target(%w: !w, %x: !x, %out: !out) {
    %a = pto.psum_alloc bank(0) : !acc
    %zero = arith.constant 0.0 : f32
    pto.memset %zero, %a : f32, !acc
    // CHECK: acc<stop|accumulate> zero_region(0)
    // OPTION: acc<start|stop> zero_region(0)
    // NOGROUP: pto.tmatmul_acc {{.*}} outs(%{{.*}} : {{.*}}){{$}}
    pto.tmatmul_acc ins(%a, %w, %x : !acc, !w, !x) outs(%a : !acc)
    pto.copy %a, %out : !acc, !out
    return
  }
}

// -----

// The target without group flags takes what is there away.
!w = memref<128x128xbf16, #pto.mem<sbuf>>
!x = memref<128x128xbf16, #pto.mem<sbuf>>
!acc = memref<128x128xf32, #pto.mem<psum>>
module {
  // CHECK-LABEL: func.func @default_target
  // NOGROUP-LABEL: func.func @default_target
  func.func @default_target(%w: !w, %x: !x) {
    %a = pto.psum_alloc bank(0) : !acc
    // CHECK: acc<start|stop> zero_region(0)
    // NOGROUP: pto.tmatmul {{.*}} outs(%{{.*}} : {{.*}}){{$}}
    pto.tmatmul ins(%w, %x : !w, !x) outs(%a : !acc) acc<start|stop> zero_region(0)
    return
  }
}
