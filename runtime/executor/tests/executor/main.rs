//! The executor, from files built by hand to the resulting values.

mod support;

mod graphs;

mod faults;

mod schedules;

mod streams;

mod stress;

mod shapes;

mod queues;

mod sync_functions;

mod signatures;

mod attributes;

mod in_place;
