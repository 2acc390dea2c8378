//! The declarations have the layout that a C compiler gives those in the headers of the linked HDF5.
#![allow(clippy::unwrap_used, reason = "without a C compiler there is nothing to compare with")]

use std::collections::BTreeMap;
use std::env;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

#[cfg(target_pointer_width = "64")]
use super::recorded;
use super::{H5FD_class_t, H5FD_t};

/// Size of a type under its name, offsets of its fields under `type.field`; the names are those of C.
type Layout = BTreeMap<String, usize>;

/// What Rust makes of the type, and the lines of C that print what C makes of it.
macro_rules! layout {
    ($layout:ident, $probe:ident, $type:ident { $($(#[$cfg:meta])? $field:ident,)* }) => {
        $layout.insert(stringify!($type).to_owned(), size_of::<$type>());
        $probe.push_str(concat!("S(", stringify!($type), ")\n"));
        $($(#[$cfg])? {
            let name = concat!(stringify!($type), ".", stringify!($field)).to_owned();
            $layout.insert(name, offset_of!($type, $field));
            $probe.push_str(concat!("F(", stringify!($type), ", ", stringify!($field), ")\n"));
        })*
    };
}

fn of_rust() -> (Layout, String) {
    let (mut layout, mut probe) = (Layout::new(), String::new());
    layout!(
        layout,
        probe,
        H5FD_t {
            driver_id,
            cls,
            fileno,
            access_flags,
            feature_flags,
            maxaddr,
            base_addr,
            threshold,
            alignment,
            paged_aggr,
        }
    );
    layout!(
        layout,
        probe,
        H5FD_class_t {
            #[cfg(hdf5_versioned_driver)]
            version,
            #[cfg(hdf5_versioned_driver)]
            value,
            name,
            maxaddr,
            fc_degree,
            terminate,
            sb_size,
            sb_encode,
            sb_decode,
            fapl_size,
            fapl_get,
            fapl_copy,
            fapl_free,
            dxpl_size,
            dxpl_copy,
            dxpl_free,
            open,
            close,
            cmp,
            query,
            get_type_map,
            alloc,
            free,
            get_eoa,
            set_eoa,
            get_eof,
            get_handle,
            read,
            write,
            #[cfg(hdf5_versioned_driver)]
            read_vector,
            #[cfg(hdf5_versioned_driver)]
            write_vector,
            #[cfg(hdf5_versioned_driver)]
            read_selection,
            #[cfg(hdf5_versioned_driver)]
            write_selection,
            flush,
            truncate,
            lock,
            unlock,
            #[cfg(hdf5_versioned_driver)]
            del,
            #[cfg(hdf5_versioned_driver)]
            ctl,
            fl_map,
        }
    );
    (layout, probe)
}

/// What a C program that has these lines in its `main` prints.
fn of_c(lines: &str) -> Layout {
    let directory = tempfile::tempdir().unwrap();
    let (source, program) = (directory.path().join("probe.c"), directory.path().join("probe"));
    let headers = Path::new(env!("H5STRATA_HDF5_INCLUDE"));
    let developers = if cfg!(hdf5_versioned_driver) { "#include <H5FDdevelop.h>\n" } else { "" };
    let text = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include <hdf5.h>\n{developers}\
         #define S(type) printf(#type \" %zu\\n\", sizeof(type));\n\
         #define F(type, field) printf(#type \".\" #field \" %zu\\n\", offsetof(type, field));\n\
         int main(void) {{\n{lines}return 0;\n}}\n"
    );
    std::fs::write(&source, text).unwrap();
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let made = Command::new(compiler)
        .args(["-std=c11", "-D_GNU_SOURCE", "-I"])
        .arg(headers)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let printed = Command::new(&program).output().unwrap();
    assert!(printed.status.success(), "{printed:?}");
    let entry = |line: &str| {
        let (name, number) = line.split_once(' ').unwrap();
        (name.to_owned(), number.parse().unwrap())
    };
    String::from_utf8(printed.stdout).unwrap().lines().map(entry).collect()
}

#[test]
fn sizes_and_offsets_are_those_of_the_linked_hdf5() {
    let (of_rust, probe) = of_rust();
    assert_eq!(of_rust, of_c(&probe));
}

/// The linked HDF5 may be replaced by another release of its kind after the build.
#[cfg(target_pointer_width = "64")]
#[test]
fn sizes_and_offsets_are_those_of_other_releases() {
    let of_others = recorded::FILE.iter().chain(recorded::CLASS);
    let of_others: Layout = of_others.map(|&(name, number)| (name.to_owned(), number)).collect();
    assert_eq!(of_rust().0, of_others);
}
