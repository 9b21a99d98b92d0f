//! Every routine against what it is defined as, on random shapes of fixed seeds.

mod support;

mod math;

mod element_wise;

mod reductions;

mod moves;

mod matmul;

mod convolution;

mod images;

mod jobs;
