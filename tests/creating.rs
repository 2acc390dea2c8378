//! What new datasets are made of, held against h5py, hdf5plugin and NumPy: filters, chunk shapes, cast values.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

use std::fmt::Write;

use h5strata::codec::{
    BitshuffleCompression, BloscCodec, BloscShuffle, ChunkLayout, Filter, FilterRequest, Pipeline,
    Scratch,
};
use h5strata::dtype::Cast;
use h5strata::{Dtype, chunking};
use serde_json::{Value, json};

mod support;

use support::made;
use support::values::Numbers;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn one_axis_is_cut_as_h5py_cuts_it() -> Outcome {
    let rows: Vec<(u64, usize, u64)> = serde_json::from_str(&made::creating(&["guess"])?)?;
    assert!(rows.len() > 1000);
    for (length, element_size, expected) in rows {
        let chunk = chunking::guess(&[length], element_size).unwrap();
        assert_eq!(chunk.as_slice(), [expected], "{length} elements of {element_size} bytes");
    }
    Ok(())
}

#[test]
fn values_are_cast_as_numpy_casts_them() -> Outcome {
    let rows: Vec<(String, String, String, String)> =
        serde_json::from_str(&made::creating(&["cast"])?)?;
    assert!(rows.len() > 400);
    for (from, to, before, after) in rows {
        let cast = Cast::new(&from.parse()?, &to.parse()?)?;
        let (from_size, to_size) = cast.sizes();
        let before = unhex(&before);
        let mut found = vec![0xaa; before.len() / from_size * to_size];
        cast.apply(&before, &mut found);
        let expected = unhex(&after);
        assert_eq!(found.len(), expected.len(), "{from} as {to}");
        let values = before.chunks(from_size).zip(found.chunks(to_size));
        for ((value, found), expected) in values.zip(expected.chunks(to_size)) {
            assert_eq!(found, expected, "{from} {value:02x?} as {to}");
        }
    }
    Ok(())
}

/// Requests, with h5py's arguments for the same.
fn requests() -> Vec<(FilterRequest, Value)> {
    let compression = |filter| FilterRequest { compression: Some(filter), ..Default::default() };
    let plugin =
        |name: &str, arguments: Value| json!({"plugin": name, "plugin_arguments": arguments});
    let raw = |id: u16, params: &[u32]| {
        let arguments = json!({"compression": id, "compression_opts": params});
        (compression(Filter::raw(id, params.to_vec())), arguments)
    };
    let mut requests = vec![
        (FilterRequest::default(), json!({})),
        (FilterRequest { shuffle: true, ..Default::default() }, json!({"shuffle": true})),
        (FilterRequest { fletcher32: true, ..Default::default() }, json!({"fletcher32": true})),
        (compression(Filter::lzf()), json!({"compression": "lzf"})),
        (compression(Filter::lz4(0)), plugin("LZ4", json!({}))),
        (compression(Filter::lz4(64)), plugin("LZ4", json!({"nbytes": 64}))),
        raw(32001, &[]),
        raw(32001, &[0, 0, 0, 0, 9, 2, 1]),
        raw(32000, &[1, 2, 3]),
        raw(32008, &[]),
        raw(32008, &[0, 2]),
        raw(32015, &[]),
        raw(32004, &[]),
        raw(307, &[]),
    ];
    for level in [0, 4, 9] {
        requests.push((
            FilterRequest {
                shuffle: true,
                compression: Some(Filter::gzip(level)),
                fletcher32: true,
            },
            json!({"shuffle": true, "compression": "gzip", "compression_opts": level, "fletcher32": true}),
        ));
    }
    requests.push((
        FilterRequest { shuffle: true, compression: Some(Filter::lzf()), fletcher32: true },
        json!({"shuffle": true, "compression": "lzf", "fletcher32": true}),
    ));
    for level in [-5, 3, 22] {
        requests.push((compression(Filter::zstd(level)), plugin("Zstd", json!({"clevel": level}))));
    }
    for level in [1, 9] {
        let arguments = plugin("BZip2", json!({"blocksize": level}));
        requests.push((compression(Filter::bzip2(level)), arguments));
    }
    for (codec, name) in [
        (BloscCodec::BloscLz, "blosclz"),
        (BloscCodec::Lz4, "lz4"),
        (BloscCodec::Lz4Hc, "lz4hc"),
        (BloscCodec::Snappy, "snappy"),
        (BloscCodec::Zlib, "zlib"),
        (BloscCodec::Zstd, "zstd"),
    ] {
        for (level, shuffle, code) in
            [(5, BloscShuffle::Bytes, 1), (0, BloscShuffle::None, 0), (9, BloscShuffle::Bits, 2)]
        {
            let arguments = json!({"cname": name, "clevel": level, "shuffle": code});
            let filter = Filter::blosc(codec, level, shuffle);
            requests.push((compression(filter), plugin("Blosc", arguments)));
        }
    }
    for (kind, block, arguments) in [
        (BitshuffleCompression::Lz4, 0, json!({})),
        (BitshuffleCompression::None, 0, json!({"cname": "none"})),
        (BitshuffleCompression::Lz4, 64, json!({"nelems": 64})),
        (BitshuffleCompression::Zstd(3), 0, json!({"cname": "zstd"})),
        (BitshuffleCompression::Zstd(22), 64, json!({"cname": "zstd", "clevel": 22, "nelems": 64})),
    ] {
        let filter = Filter::bitshuffle(kind, block);
        requests.push((compression(filter), plugin("Bitshuffle", arguments)));
    }
    requests
}

/// Values that shrink, and others that do not.
fn contents(bytes: usize) -> [Vec<u8>; 3] {
    let mut numbers = Numbers(5);
    [
        vec![0; bytes],
        (0..bytes).map(|i| (i / 24).to_le_bytes()[0]).collect(),
        (0..bytes).map(|_| u8::try_from(numbers.below(256)).unwrap()).collect(),
    ]
}

#[test]
fn filters_are_h5pys_and_real_plugins_read_what_they_encode() -> Outcome {
    let mut cases = Vec::new();
    let mut skipped = 0;
    for dtype in
        ["|u1", "<i2", ">i4", "<u8", "<c16", "|S5", "|S300", "[('a', '<i4'), ('b', '<f8')]", "str"]
    {
        for chunk_shape in [vec![3, 7], vec![1], vec![61, 20]] {
            let elements = chunk_shape.iter().product();
            let parsed: Dtype = dtype.parse()?;
            let layout = ChunkLayout::new(&parsed, elements)?;
            for (request, arguments) in requests() {
                let Ok(filters) = request.filters(&layout) else {
                    assert!(dtype == "str" && request.fletcher32, "{arguments} on {dtype}");
                    continue;
                };
                let rows: Vec<_> = filters
                    .iter()
                    .map(|f| json!({"id": f.id, "optional": f.optional, "params": f.params, "name": f.name}))
                    .collect();
                let mut chunks = Vec::new();
                if let Some(size) = parsed.size() {
                    let bytes = size * usize::try_from(elements)?;
                    let pipeline = Pipeline::new(filters, bytes, size);
                    pipeline.can_encode()?;
                    for values in contents(bytes) {
                        let mut stored = Vec::new();
                        let mask =
                            pipeline.encode(&values, &mut Scratch::default(), &mut stored)?;
                        skipped += u32::from(mask != 0);
                        chunks.push(
                            json!({"mask": mask, "stored": hex(&stored), "values": hex(&values)}),
                        );
                    }
                }
                cases.push(json!({
                    "dtype": if dtype.starts_with('[') { json!([["a", "<i4"], ["b", "<f8"]]) } else { json!(dtype) },
                    "chunk_shape": chunk_shape,
                    "arguments": arguments,
                    "filters": rows,
                    "chunks": chunks,
                }));
            }
        }
    }
    assert!(skipped > 100, "no chunk that does not shrink: {skipped}");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("creating");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("cases.json"), serde_json::to_vec(&cases)?)?;
    let folder = folder.to_string_lossy().into_owned();
    assert_eq!(made::creating(&["filters", &folder])?.trim(), cases.len().to_string());
    Ok(())
}
