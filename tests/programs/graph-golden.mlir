// RUN: tfrt graph ../golden/host/08-if.bef
// RUN: tfrt graph --function=swap,moves_regions,native_add ../golden/host/49-inline.mlir
// RUN: tfrt graph --function=swop ../golden/host/49-inline.mlir
// RUN: tfrt graph ../golden/damaged/87-damaged-one-byte.bef
