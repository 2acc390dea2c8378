//! An overlay is a file: compared with bytes in memory under random operations.

use proptest::prelude::*;

use super::*;
use crate::ondisk::ReadAt;

#[derive(Clone, Debug)]
enum Operation {
    Write { address: u64, length: usize, seed: u64 },
    Resize(u64),
    Read { address: u64, length: usize },
}

fn operation(end: u64) -> impl Strategy<Value = Operation> {
    let address = prop_oneof![0..end + 20_000, end.saturating_sub(50)..end + 50];
    prop_oneof![
        6 => (address.clone(), prop_oneof![0..20usize, 0..9000usize, Just(4096)], 1..u64::MAX)
            .prop_map(|(address, length, seed)| {
                // Whole pages are a case of their own.
                let address = if length == 4096 { address / 4096 * 4096 } else { address };
                Operation::Write { address, length, seed }
            }),
        1 => address.clone().prop_map(Operation::Resize),
        3 => (address, 0..20_000usize)
            .prop_map(|(address, length)| Operation::Read { address, length }),
    ]
}

#[derive(Clone, Debug)]
struct Case {
    old_size: usize,
    memory_limit: usize,
    operations: Vec<Operation>,
    durability: Durability,
}

fn case() -> impl Strategy<Value = Case> {
    let size = prop_oneof![0..40_000usize, Just(0), Just(4096), Just(8192), Just(8193)];
    let limit = prop_oneof![Just(0), Just(3 * 4096), Just(64 << 20)];
    let durability = prop_oneof![9 => Just(Durability::Process), 1 => Just(Durability::Full)];
    (size, limit, durability).prop_flat_map(|(old_size, memory_limit, durability)| {
        let operations = proptest::collection::vec(operation(old_size as u64), 0..40);
        operations.prop_map(move |operations| Case {
            old_size,
            memory_limit,
            operations,
            durability,
        })
    })
}

/// Bytes from `address` on, 0 behind the end.
fn slice(model: &[u8], address: u64, length: usize) -> Vec<u8> {
    let start = usize::try_from(address).unwrap().min(model.len());
    let end = (start + length).min(model.len());
    let mut bytes = model[start..end].to_vec();
    bytes.resize(length, 0);
    bytes
}

fn run(overlay: &mut Overlay, model: &mut Vec<u8>, operation: &Operation) {
    match *operation {
        Operation::Write { address, length, seed } => {
            let bytes = noise(length, seed);
            overlay.write(address, &bytes).unwrap();
            if length > 0 {
                let start = usize::try_from(address).unwrap();
                model.resize(model.len().max(start + length), 0);
                model[start..start + length].copy_from_slice(&bytes);
            }
        }
        Operation::Resize(size) => {
            overlay.set_size(size).unwrap();
            model.resize(usize::try_from(size).unwrap(), 0);
        }
        Operation::Read { address, length } => {
            let mut out = vec![0xa5; length];
            overlay.read(address, &mut out).unwrap();
            assert!(out == slice(model, address, length), "{operation:?}");
            let inside = model.len().saturating_sub(usize::try_from(address).unwrap()).min(length);
            let mut out = vec![0; length];
            assert_eq!(overlay.read_at(&mut out, address).unwrap(), inside);
            assert!(out == slice(model, address, length), "{operation:?}");
        }
    }
    assert_eq!(ReadAt::size(overlay).unwrap(), model.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_overlay_reads_commits_and_discards_as_its_model(case in case()) {
        let old = noise(case.old_size, 9);
        for (steps, expects_new) in [(4, true), (2, false), (0, false)] {
            let scratch = Scratch::new(&old);
            let end = case.old_size as u64;
            let mut overlay =
                Overlay::new(scratch.open(), &scratch.path, end, case.durability).unwrap();
            overlay.set_memory_limit(case.memory_limit);
            let mut model = old.clone();
            for operation in &case.operations {
                run(&mut overlay, &mut model, operation);
            }
            commit(&mut overlay, steps).unwrap();
            run(&mut overlay, &mut model, &Operation::Read { address: 0, length: 70_000 });
            overlay.discard().unwrap();
            drop(overlay);
            let expected = if expects_new { &model } else { &old };
            prop_assert!(scratch.content() == *expected);
            prop_assert_eq!(scratch.names(), ["data.h5"]);
        }
    }

    #[test]
    fn a_commit_whose_process_ends_before_it_is_applied_is_finished_by_recovery(case in case()) {
        let mut model = noise(case.old_size, 9);
        let scratch = Scratch::new(&model);
        let mut overlay = scratch.overlay();
        overlay.set_memory_limit(case.memory_limit);
        for operation in &case.operations {
            run(&mut overlay, &mut model, operation);
        }
        commit(&mut overlay, 2).unwrap();
        std::mem::forget(overlay);
        let view = seen(&scratch.path, &scratch.open()).unwrap();
        let (has_journal, old) = (scratch.journal().exists(), scratch.content());
        prop_assert_eq!(view.is_some(), has_journal);
        if let Some(view) = view {
            let mut out = vec![0; 80_000];
            let count = view.read_at(&mut out, 0).unwrap();
            prop_assert!(out[..count] == model);
        }
        let recovery = recover(&scratch.path, &scratch.open(), case.durability).unwrap();
        prop_assert_eq!(matches!(recovery, Recovery::Replayed(_)), has_journal);
        let expected = if has_journal { model } else { old };
        prop_assert!(scratch.content() == expected);
        prop_assert_eq!(scratch.names(), ["data.h5"]);
    }
}
