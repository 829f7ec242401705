// The tile machine has no accumulation groups of this kind.
// RUN: %pto_opt --pto-legalize-acc -verify-diagnostics %s

module attributes {pto.target = #pto.target<tile>} {
  // expected-error @+1 {{expected a target with a matrix engine, one of `trn1`, `trn2`, `trn3`, `nogroup`, found `tile` [pto:target]}}
  func.func @f() {
    return
  }
}
