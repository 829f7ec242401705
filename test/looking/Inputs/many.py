"""10,000 instructions: groups of seven matmuls in turns through both halves of eight banks."""

GROUPS, MATMULS = 1250, 7

print("!w = memref<128x128xbf16, #pto.mem<sbuf>>")
print("!x = memref<128x256xbf16, #pto.mem<sbuf>>")
print("!acc = memref<128x256xf32, #pto.mem<psum>>")
print("func.func @main(%w: !w, %x: !x, %out: memref<128x256xf32>) {")
for place in range(16):
    print(f"  %a{place} = pto.psum_alloc bank({place % 8}) offset({place // 8 * 1024}) : !acc")
for group in range(GROUPS):
    acc = f"%a{group % 16}"
    print(f"  pto.tmatmul ins(%w, %x : !w, !x) outs({acc} : !acc)")
    for _ in range(MATMULS - 1):
        print(f"  pto.tmatmul_acc ins({acc}, %w, %x : !acc, !w, !x) outs({acc} : !acc)")
    print(f"  pto.copy {acc}, %out : !acc, memref<128x256xf32>")
print("  return")
print("}")
