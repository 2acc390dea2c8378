//! One file a command, and what several of them list.

pub(crate) mod blame;
pub(crate) mod commit;
mod dataset_row;
pub(crate) mod delete;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod export;
pub(crate) mod info;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod read;
mod rebuilt;
pub(crate) mod recover;
pub(crate) mod repack;
pub(crate) mod rewrite;
pub(crate) mod set_current;
mod settings;
pub(crate) mod stats;
pub(crate) mod upgrade;
pub(crate) mod verify;
