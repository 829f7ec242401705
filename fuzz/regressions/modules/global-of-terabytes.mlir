// A splat is small however large the global is.
memref.global "private" constant @g : memref<2147483647x2147483647xf32> = dense<1.0>
func.func @main() -> memref<2147483647x2147483647xf32> {
  %g = memref.get_global @g : memref<2147483647x2147483647xf32>
  return %g : memref<2147483647x2147483647xf32>
}
