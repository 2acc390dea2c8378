//! Lists put into small files that are built by hand, whole and damaged.

use super::super::test_image::{
    MessageImage, WritableFile, block_v1, block_v2, continuation, dataspace, field, header_v1,
    header_v2, sealed, superblock, virtual_layout,
};
use super::super::{Collection, Dataspace, Layout, ObjectHeader, locate};
use super::*;

const WIDE: FieldWidth = FieldWidth::Eight;
const WIDTHS: [FieldWidth; 2] = [FieldWidth::Four, WIDE];

/// Times, the order of creation, and a size of 2 bytes.
const HEADER_FLAGS: u8 = 0b10_0101;

/// Which of the forms a file and its headers come in.
#[derive(Clone, Copy, Debug)]
struct Form {
    superblock: u8,
    header: u8,
    /// Whether the layout message stands in a continuation block.
    continued: bool,
    offset_size: FieldWidth,
    length_size: FieldWidth,
    user_block: usize,
    /// Base address as it is stored: libhdf5 does not mind a stale one.
    stored_base: u64,
}

const USUAL: Form = Form {
    superblock: 0,
    header: 1,
    continued: false,
    offset_size: WIDE,
    length_size: WIDE,
    user_block: 0,
    stored_base: 0,
};

fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for superblock in 0..=3 {
        for (header, continued) in [(1, false), (1, true), (2, false), (2, true)] {
            for offset_size in WIDTHS {
                for length_size in WIDTHS {
                    for (user_block, stored_base) in [(0, 0), (512, 512), (1024, 0)] {
                        forms.push(Form {
                            superblock,
                            header,
                            continued,
                            offset_size,
                            length_size,
                            user_block,
                            stored_base,
                        });
                    }
                }
            }
        }
    }
    forms
}

/// A file and its datasets' headers, relative to the base address.
struct Made {
    file: WritableFile,
    headers: Vec<u64>,
}

impl Form {
    /// Datasets without mappings.
    fn datasets(self, count: usize) -> Made {
        let layout = virtual_layout(self.offset_size.all_ones(), 0, self.offset_size);
        self.with_layouts(&vec![layout; count], None)
    }

    fn with_layouts(self, layouts: &[MessageImage], extension: Option<Vec<u8>>) -> Made {
        let mut bytes = superblock(self.superblock, self.offset_size, self.length_size);
        let mut headers = Vec::new();
        for layout in layouts {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            headers.push(bytes.len() as u64);
            let at = bytes.len();
            bytes.extend(self.header(at, layout));
        }
        let extension_at = extension.as_ref().map(|_| bytes.len() as u64);
        bytes.extend(extension.unwrap_or_default());
        let end = bytes.len() as u64 + self.stored_base;
        self.fill_superblock(&mut bytes, extension_at, end);
        let mut file = vec![b'u'; self.user_block];
        file.extend(bytes);
        Made { file: WritableFile { bytes: file, writes_left: usize::MAX }, headers }
    }

    fn fill_superblock(self, bytes: &mut [u8], extension: Option<u64>, end: u64) {
        let width = self.offset_size;
        let start = match self.superblock {
            0 => 24,
            1 => 28,
            _ => 12,
        };
        let fields =
            [self.stored_base, extension.unwrap_or(width.all_ones()), end, width.all_ones()];
        let fields = fields.map(|value| field(value, width)).concat();
        let last = start + fields.len();
        bytes[start..last].copy_from_slice(&fields);
        if self.superblock >= 2 {
            let whole = sealed(bytes[..last].to_vec());
            bytes[..whole.len()].copy_from_slice(&whole);
        }
    }

    /// A header that is to stand at `at`.
    fn header(self, at: usize, layout: &MessageImage) -> Vec<u8> {
        let space = dataspace(&[10, 20], self.length_size);
        if !self.continued {
            return self.first_block(&[space, layout.clone()]);
        }
        let block = match self.header {
            1 => block_v1(std::slice::from_ref(layout)),
            _ => block_v2(HEADER_FLAGS, std::slice::from_ref(layout), 2),
        };
        let first = |address| {
            let next = continuation(address, block.len(), self.offset_size, self.length_size);
            self.first_block(&[space.clone(), next])
        };
        let size = first(0).len();
        [first(at + size), block].concat()
    }

    fn first_block(self, messages: &[MessageImage]) -> Vec<u8> {
        match self.header {
            1 => header_v1(3, messages),
            _ => header_v2(HEADER_FLAGS, messages),
        }
    }
}

fn lists() -> Vec<Vec<u8>> {
    let sizes = [13, 5000, 0, 8, 70_001, 40_000, 40_001, 65_504, 65_505, 1];
    (0u8..).zip(sizes).map(|(fill, size)| vec![fill + 1; size]).collect()
}

fn patch(made: &mut Made, lists: &[Vec<u8>]) -> Result<u64, OndiskError> {
    let mut patcher = MapPatcher::begin(&made.file)?;
    for (&header, list) in made.headers.iter().zip(lists) {
        patcher.place(&mut made.file, header, list)?;
    }
    patcher.finish(&mut made.file)
}

/// The heap object that a dataset's layout leads to.
fn mappings(file: &WritableFile, header: u64) -> Option<GlobalHeapId> {
    let superblock = Superblock::read(file).unwrap();
    match ObjectHeader::read(file, &superblock, header).unwrap().layout().unwrap() {
        Layout::Virtual { mappings } => mappings,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_are_found_where_layouts_lead_to_in_files_of_every_form() {
    let lists = lists();
    for form in forms() {
        let mut made = form.datasets(lists.len() + 1);
        let before = made.file.bytes.len();
        let end = patch(&mut made, &lists).unwrap();
        assert_eq!(end, made.file.bytes.len() as u64, "{form:?}");
        assert!(made.file.bytes.iter().take(form.user_block).all(|&byte| byte == b'u'));
        let superblock = Superblock::read(&made.file).unwrap();
        for (&header, list) in made.headers.iter().zip(&lists) {
            let id = mappings(&made.file, header).unwrap();
            let found = locate(&made.file, &superblock, id).unwrap().read(&made.file).unwrap();
            assert!(found == *list, "{form:?}: {} bytes", list.len());
            assert!(
                superblock.absolute(id.collection, Structure::Layout).unwrap() >= before as u64
            );
        }
        assert_eq!(mappings(&made.file, made.headers[lists.len()]), None);
        // What was written is again a file that can be changed so, at its new end.
        made.headers.drain(..lists.len());
        let again = patch(&mut made, &lists[..1]).unwrap();
        assert_eq!(again, end + 4096, "{form:?}");
    }
}

#[test]
fn nothing_else_is_changed() {
    for form in forms() {
        let mut made = form.datasets(2);
        let before = made.file.bytes.clone();
        patch(&mut made, &[vec![1; 100]]).unwrap();
        let changed = before.iter().zip(&made.file.bytes).filter(|(old, new)| old != new).count();
        let checksums = 4 * (usize::from(form.superblock >= 2) + usize::from(form.header >= 2));
        assert!(changed <= form.offset_size.bytes() + 4 + 2 + checksums, "{form:?}: {changed}");
    }
}

#[test]
fn a_file_without_lists_stays_as_it_is() {
    for form in forms() {
        let mut made = form.datasets(1);
        let before = made.file.bytes.clone();
        assert_eq!(patch(&mut made, &[]).unwrap(), before.len() as u64);
        assert!(made.file.bytes == before, "{form:?}");
    }
}

#[test]
fn small_lists_share_collections_and_large_ones_are_alone() {
    let mut made = USUAL.datasets(1000);
    let lists: Vec<_> = (0..1000).map(|number| vec![7; 200 + number % 9]).collect();
    patch(&mut made, &lists).unwrap();
    let mut ids: Vec<_> =
        made.headers.iter().map(|&header| mappings(&made.file, header).unwrap()).collect();
    ids.dedup_by_key(|id| id.collection);
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| id.index == 1));

    let superblock = Superblock::read(&made.file).unwrap();
    let mut collection = Collection::new();
    for (id, next) in ids.iter().zip(&ids[1..]) {
        collection.read_into(&made.file, &superblock, id.collection).unwrap();
        assert!(collection.len() > 280 && next.collection - id.collection <= 1 << 16);
    }
}

#[test]
fn collections_have_the_sizes_that_libhdf5_gives_them() {
    // Object data, bytes of the collection, bytes of free space with a header.
    for (data, size, free) in [
        (1, 4096, Some(4096 - 16 - 24)),
        (4096 - 32 - 16, 4096, Some(16)),
        (4096 - 32 - 8, 4096, None),
        (4096 - 32, 4096, None),
        (4096 - 31, 4104, None),
        (100_000, 100_032, None),
        (100_001, 100_040, None),
    ] {
        let mut made = USUAL.datasets(1);
        let at = made.file.bytes.len();
        patch(&mut made, &[vec![7; data]]).unwrap();
        let bytes = &made.file.bytes[at..];
        assert_eq!(bytes.len(), size, "{data}");
        assert_eq!(bytes[..8], *b"GCOL\x01\0\0\0");
        assert_eq!(bytes[8..16], (size as u64).to_le_bytes());
        assert_eq!(bytes[16..24], [1, 0, 0, 0, 0, 0, 0, 0]);
        let rest = &bytes[32 + data.next_multiple_of(8)..];
        match free {
            Some(free) => {
                assert_eq!(rest.len(), free);
                assert_eq!(rest[..8], [0; 8]);
                assert_eq!(rest[8..16], (free as u64).to_le_bytes());
            }
            None => assert!(rest.len() < 16 && rest.iter().all(|&byte| byte == 0)),
        }
    }
}

#[test]
fn layouts_that_are_not_virtual_and_empty_are_refused() {
    let place = |layout: MessageImage| {
        let mut made = USUAL.with_layouts(&[layout], None);
        let before = made.file.bytes.clone();
        let error = patch(&mut made, &[vec![1; 100]]).unwrap_err();
        assert!(made.file.bytes == before, "{error:?}");
        format!("{error:?}")
    };
    let given = place(virtual_layout(0x1234, 7, WIDE));
    assert!(given.contains("\"address of mappings to be written\", value: 4660"), "{given}");
    let mut contiguous = virtual_layout(u64::MAX, 0, WIDE);
    contiguous.2 = [&[3, 1][..], &[0xff; 8], &[0; 8]].concat();
    let contiguous = place(contiguous);
    assert!(
        contiguous.contains("\"class of a layout without mappings\", value: 1"),
        "{contiguous}"
    );
    let mut short = virtual_layout(u64::MAX, 0, WIDE);
    short.2.truncate(8);
    assert!(place(short).starts_with("Truncated { structure: Layout"));
    let mut unknown = virtual_layout(u64::MAX, 0, WIDE);
    unknown.2[0] = 6;
    assert!(place(unknown).starts_with("Version { structure: Layout"));
    let mut shared = virtual_layout(u64::MAX, 0, WIDE);
    shared.1 = 2;
    assert!(place(shared).starts_with("Unsupported { structure: Layout"));
    let mut missing = virtual_layout(u64::MAX, 0, WIDE);
    missing.0 = 5;
    assert!(place(missing).starts_with("MissingMessage { structure: Layout"));
}

/// A dataset of chunks without any, in the place of a virtual one without mappings.
#[test]
fn a_dataset_without_chunks_becomes_a_virtual_one() {
    for form in forms() {
        let undefined = field(form.offset_size.all_ones(), form.offset_size);
        let mut layout = virtual_layout(0, 0, form.offset_size);
        layout.2 = [&[3, 2, 3][..], &undefined, &[5, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0]].concat();
        let mut made = form.with_layouts(&[layout.clone()], None);
        let list = vec![9; 300];
        patch(&mut made, std::slice::from_ref(&list)).unwrap();
        let superblock = Superblock::read(&made.file).unwrap();
        let header = ObjectHeader::read(&made.file, &superblock, made.headers[0]).unwrap();
        let Layout::Virtual { mappings: Some(id) } = header.layout().unwrap() else {
            panic!("{:?}", header.layout());
        };
        let found = locate(&made.file, &superblock, id).unwrap().read(&made.file).unwrap();
        assert_eq!(found, list);
        // One with chunks stays what it is.
        layout.2[3..3 + form.offset_size.bytes()].fill(0);
        let mut made = form.with_layouts(&[layout], None);
        assert!(patch(&mut made, &[list]).is_err());
    }
}

#[test]
fn the_first_axis_gets_another_extent_in_headers_of_every_form() {
    let shape = |file: &WritableFile, header| {
        let superblock = Superblock::read(file).unwrap();
        // Read with its checksum, if there is one.
        match ObjectHeader::read(file, &superblock, header).unwrap().dataspace().unwrap() {
            Dataspace::Simple { shape, .. } => shape.to_vec(),
            other => panic!("{other:?}"),
        }
    };
    for form in forms() {
        let Made { mut file, headers } = form.datasets(3);
        let [first, second, third] = headers[..] else { panic!("{headers:?}") };
        let wrong = set_rows(&mut file, second, 11, 7).unwrap_err();
        assert!(matches!(wrong, OndiskError::Invalid { value: 10, .. }), "{form:?}: {wrong}");
        set_rows(&mut file, second, 10, 7).unwrap();
        let found = [first, second, third].map(|header| shape(&file, header));
        assert_eq!(found, [[10, 20], [7, 20], [10, 20]], "{form:?}");
        if form.length_size == FieldWidth::Four {
            let wide = set_rows(&mut file, first, 10, 1 << 32).unwrap_err();
            assert!(matches!(wide, OndiskError::Unsupported { .. }), "{form:?}: {wide}");
        }
    }
}

fn begin(file: &WritableFile) -> String {
    MapPatcher::begin(file).map_or_else(|error| format!("{error:?}"), |_| "accepted".to_owned())
}

#[test]
fn files_with_another_end_than_that_of_allocation_are_refused() {
    for version in 0..=3u8 {
        let form = Form { superblock: version, ..USUAL };
        let extended = |kind, body: &[u8]| {
            let mut body = body.to_vec();
            body.extend([0; 24]);
            let extension = header_v1(1, &[(kind, 0, body)]);
            begin(&form.with_layouts(&[], Some(extension)).file)
        };
        assert_eq!(extended(0x13, &[]), "accepted", "B-tree sizes");
        for strategy in [0, 2, 3] {
            assert_eq!(extended(0x17, &[1, strategy, 0]), "accepted");
            assert!(extended(0x17, &[1, strategy, 1]).starts_with("Unsupported"), "kept");
        }
        for strategy in [2, 3, 4] {
            assert_eq!(extended(0x17, &[0, strategy]), "accepted");
        }
        for refused in [[1, 1, 0], [1, 4, 0], [2, 0, 0], [0, 1, 0], [0, 0, 0], [0, 5, 0]] {
            assert!(extended(0x17, &refused).starts_with("Unsupported"), "{refused:?}");
        }
        assert!(extended(0x0f, &[]).starts_with("Unsupported"), "shared messages");
        assert!(extended(0x14, &[]).starts_with("Unsupported"), "driver information");
        assert!(extended(0x18, &[]).starts_with("Unsupported"), "an image of the cache");
    }
}

#[test]
fn files_that_are_open_or_of_several_parts_are_refused() {
    for (version, flags_at, driver_at) in
        [(0, 20, Some(48)), (1, 20, Some(52)), (2, 11, None), (3, 11, None)]
    {
        let form = Form { superblock: version, ..USUAL };
        let change = |at: usize, value: u8| {
            let mut file = form.datasets(1).file;
            file.bytes[at] = value;
            if version >= 2 {
                let whole = sealed(file.bytes[..44].to_vec());
                file.bytes[..whole.len()].copy_from_slice(&whole);
            }
            begin(&file)
        };
        assert_eq!(change(flags_at, 0), "accepted");
        assert!(change(flags_at, 1).starts_with("Unsupported"));
        if let Some(driver_at) = driver_at {
            assert!(change(driver_at, 0).starts_with("Unsupported"));
        }
    }
    let two = Form { length_size: FieldWidth::Two, ..USUAL };
    assert!(begin(&two.datasets(1).file).starts_with("Unsupported"));
}

#[test]
fn a_file_that_ends_before_its_allocation_is_refused() {
    for form in forms() {
        let mut file = form.datasets(1).file;
        file.bytes.pop();
        assert!(begin(&file).starts_with("Truncated { structure: Superblock"), "{form:?}");
    }
}

#[test]
fn ends_beyond_the_widths_are_refused() {
    let narrow = Form { offset_size: FieldWidth::Two, ..USUAL };
    let mut made = narrow.datasets(1);
    let error = patch(&mut made, &[vec![1; 65_400]]).unwrap_err();
    assert!(matches!(error, OndiskError::Unsupported { structure: Structure::Superblock, .. }));

    let base = Form { stored_base: u64::MAX - 5000, ..USUAL };
    let mut made = base.datasets(1);
    let error = patch(&mut made, &[vec![1; 6000]]).unwrap_err();
    assert!(matches!(error, OndiskError::Unsupported { structure: Structure::Superblock, .. }));
}

#[test]
fn a_failed_write_is_told_whichever_it_is() {
    let lists = lists();
    let mut writes = 0;
    loop {
        let mut made = USUAL.datasets(lists.len());
        made.file.writes_left = writes;
        match patch(&mut made, &lists) {
            Ok(_) => break,
            Err(error) => assert!(matches!(error, OndiskError::Write { .. }), "{error:?}"),
        }
        writes += 1;
    }
    assert!(writes > lists.len());
}

#[test]
fn damaged_files_give_an_error_or_are_changed_but_never_panic() {
    let (mut refused, mut changed) = (0, 0);
    for superblock in 0..=3 {
        for (header, continued) in [(1, false), (1, true), (2, false), (2, true)] {
            let form = Form { superblock, header, continued, ..USUAL };
            let sound = form.datasets(1);
            let headers = sound.headers.clone();
            let mut attempt = |bytes: Vec<u8>| {
                let file = WritableFile { bytes, writes_left: usize::MAX };
                let mut made = Made { file, headers: headers.clone() };
                match patch(&mut made, &[vec![1; 100]]) {
                    Ok(_) => changed += 1,
                    Err(_) => refused += 1,
                }
            };
            for at in 0..sound.file.bytes.len() {
                for change in [0x01, 0x80, 0xff] {
                    let mut bytes = sound.file.bytes.clone();
                    bytes[at] ^= change;
                    attempt(bytes);
                }
                attempt(sound.file.bytes[..at].to_vec());
            }
        }
    }
    assert!(refused > changed, "{refused} refused, {changed} changed");
}
