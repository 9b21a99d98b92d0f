// RUN: tfrt graph ../golden/08-if.bef
// RUN: tfrt graph --function=swap,moves_regions,native_add ../golden/49-inline.mlir
// RUN: tfrt graph --function=swop ../golden/49-inline.mlir
// RUN: tfrt graph ../golden/87-damaged-one-byte.bef
