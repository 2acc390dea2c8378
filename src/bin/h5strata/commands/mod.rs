//! One file a command, and what several of them list.

mod dataset_row;
pub(crate) mod digest;
pub(crate) mod info;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod read;
