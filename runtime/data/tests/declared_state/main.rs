//! Functions with a state that they declare: saved and restored at every position, below stages
//! that draw ahead, on all queues. The state is changed in two steps with other tasks in between,
//! so that calls that overlap would lose counts.

mod support;

mod element_functions;

mod dataset_functions;

mod several_iterators;

mod handed_on;

mod refusals;
