//! One file a command.

pub(crate) mod digest;
pub(crate) mod info;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod read;
