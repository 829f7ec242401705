// Upstream's im2col for every convolution of a module, as a script for --transform-interpreter.

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %convolutions = transform.structured.match ops{["linalg.conv_2d_nhwc_hwcf"]} in %module
        : (!transform.any_op) -> !transform.any_op
    %columns, %product = transform.structured.convert_conv2d_to_img2col %convolutions
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
