//! Models as programs: what they are made of, and what makes their weights.
//!
//! Nothing is downloaded: data is drawn and weights are trained, or drawn, by the project itself, from documented seeds.
#![forbid(unsafe_code)]
