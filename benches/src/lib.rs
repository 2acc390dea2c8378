//! Workloads shared by the benchmarks of h5strata.
