//! B-trees of version 1 over the chunks of a dataset (specification III.A.1, node type 1).
//!
//! ```text
//! node:  "TREE" | type 1 | level u8 | entries used u16 | left sibling O | right sibling O
//!        | key 0 | child 0 | key 1 | child 1 ... | key n
//! key:   stored bytes u32 | filter mask u32 | offset of the chunk along each axis u64 ... | 0 u64
//! child: at level 0 the chunk, above it a node of the next level down
//! ```
//!
//! A key is that of the first chunk below its child. The tree is walked from the root, only into children
//! that hold a wanted chunk. Rows must rise strictly from chunk to chunk and levels fall by one from
//! node to node, so that a walk through a damaged tree ends too.

use super::read_at::check_inside_file;
use super::{Cursor, OndiskError, ReadAt, Structure, Superblock};

const SIGNATURE: [u8; 4] = *b"TREE";
const CHUNK_NODE: u8 = 1;

/// Children of a node that libhdf5 makes by default (twice `HDF5_BTREE_CHUNK_IK_DEF`).
const USUAL_CHILDREN: usize = 64;

/// The chunk index of one dataset whose chunks are stacked along its first axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkBTree {
    superblock: Superblock,
    /// Address of the root node relative to the base address; `None` while nothing is stored.
    root: Option<u64>,
    /// Axes of the dataset.
    rank: usize,
    /// Rows of a chunk.
    edge: u64,
}

/// One stored chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    /// Its first element along the first axis.
    pub row: u64,
    /// Absolute address of its first byte.
    pub address: u64,
    /// Bytes stored.
    pub size: u32,
    /// Bit *n* set: filter *n* was left out for this chunk.
    pub filter_mask: u32,
}

/// Which chunks are visited.
#[derive(Clone, Copy)]
enum Wanted<'w> {
    All,
    /// Those that begin in these rows, which rise.
    Rows(&'w [u64]),
}

impl Wanted<'_> {
    /// Whether a chunk is wanted that begins at `first` or behind it and before `end`.
    fn any_in(self, first: u64, end: u64) -> bool {
        match self {
            Self::All => true,
            Self::Rows(rows) => {
                rows.get(rows.partition_point(|&row| row < first)).is_some_and(|&row| row < end)
            }
        }
    }
}

impl ChunkBTree {
    /// Whether it leads to chunks: an index is made with the first one, and stays where it is.
    pub(crate) fn is_there(&self) -> bool {
        self.root.is_some()
    }

    pub(super) fn new(superblock: Superblock, root: Option<u64>, chunk_shape: &[u64]) -> Self {
        let edge = chunk_shape.first().copied().unwrap_or(1).max(1);
        Self { superblock, root, rank: chunk_shape.len(), edge }
    }

    /// Calls `visit` for every stored chunk, in rising order of rows.
    ///
    /// # Errors
    /// [`OndiskError::Signature`], [`OndiskError::Invalid`], [`OndiskError::Truncated`], [`OndiskError::Read`].
    pub fn visit_all(
        &self,
        file: &dyn ReadAt,
        visit: impl FnMut(ChunkEntry),
    ) -> Result<(), OndiskError> {
        self.walk(file, Wanted::All, visit)
    }

    /// Calls `visit` for every stored chunk that begins in one of `rows`, which must rise.
    ///
    /// # Errors
    /// As [`visit_all`](Self::visit_all).
    pub fn visit_rows(
        &self,
        file: &dyn ReadAt,
        rows: &[u64],
        visit: impl FnMut(ChunkEntry),
    ) -> Result<(), OndiskError> {
        self.walk(file, Wanted::Rows(rows), visit)
    }

    fn walk(
        &self,
        file: &dyn ReadAt,
        wanted: Wanted<'_>,
        visit: impl FnMut(ChunkEntry),
    ) -> Result<(), OndiskError> {
        let Some(root) = self.root else { return Ok(()) };
        let address = self.superblock.absolute(root, Structure::ChunkIndex)?;
        Walk { tree: self, file, wanted, visit, last: None, nodes: Vec::new() }.node(address, None)
    }

    fn key_size(&self) -> usize {
        8 + 8 * (self.rank + 1)
    }

    fn header_size(&self) -> usize {
        8 + 2 * self.superblock.offset_size.bytes()
    }

    /// Size of a node with this many children.
    fn node_size(&self, children: usize) -> usize {
        let pair = self.key_size() + self.superblock.offset_size.bytes();
        self.header_size() + children * pair + self.key_size()
    }
}

struct Walk<'w, V> {
    tree: &'w ChunkBTree,
    file: &'w dyn ReadAt,
    wanted: Wanted<'w>,
    visit: V,
    /// Row of the chunk that was visited or passed last.
    last: Option<u64>,
    /// A buffer for each level, kept from node to node.
    nodes: Vec<Vec<u8>>,
}

struct Key {
    size: u32,
    filter_mask: u32,
    row: u64,
    /// Whether it is that of a chunk of the stack: on the grid along the first axis, 0 along the others.
    stacked: bool,
}

impl<V: FnMut(ChunkEntry)> Walk<'_, V> {
    /// Visits the wanted chunks below the node at an absolute address; `above` is the level of its parent.
    fn node(&mut self, address: u64, above: Option<u8>) -> Result<(), OndiskError> {
        let mut node = self.nodes.pop().unwrap_or_default();
        let outcome =
            self.read(address, &mut node).and_then(|()| self.children(address, above, &node));
        self.nodes.push(node);
        outcome
    }

    /// Reads a node, its unused end perhaps left out.
    fn read(&self, address: u64, node: &mut Vec<u8>) -> Result<(), OndiskError> {
        node.resize(self.tree.node_size(USUAL_CHILDREN), 0);
        let mut count = self.file.read_up_to(node, address, Structure::ChunkIndex)?;
        let used = Cursor::new(&node[..count], Structure::ChunkIndex, address);
        let needed = self.tree.node_size(usize::from(entries_used(used)?));
        if needed > node.len() {
            // The number of children comes from the file: nothing is allocated that it cannot hold.
            check_inside_file(self.file, address, needed as u64, Structure::ChunkIndex)?;
            node.resize(needed, 0);
            count = self.file.read_up_to(node, address, Structure::ChunkIndex)?;
        }
        node.truncate(count.min(needed));
        Ok(())
    }

    fn children(
        &mut self,
        address: u64,
        above: Option<u8>,
        node: &[u8],
    ) -> Result<(), OndiskError> {
        let mut cursor = Cursor::new(node, Structure::ChunkIndex, address);
        let used = entries_used(cursor.clone())?;
        if cursor.array()? != SIGNATURE {
            return Err(OndiskError::Signature { structure: Structure::ChunkIndex, address });
        }
        let (kind, level) = (cursor.u8()?, cursor.u8()?);
        if kind != CHUNK_NODE {
            return Err(invalid(address, "node type", kind.into()));
        }
        if above.is_some_and(|above| above.checked_sub(1) != Some(level)) {
            return Err(invalid(address, "node level", level.into()));
        }
        if used == 0 && above.is_some() {
            return Err(invalid(address, "number of children", 0));
        }
        cursor.take(self.tree.header_size() - 6)?;
        let mut key = self.key(&mut cursor)?;
        for _ in 0..used {
            let at = cursor.address();
            let child = cursor.relative_address(self.tree.superblock.offset_size)?;
            let next = self.key(&mut cursor)?;
            let Some(child) = child else {
                return Err(invalid(at, "address of a child", u64::MAX));
            };
            let child = self.tree.superblock.absolute(child, Structure::ChunkIndex)?;
            // Rows rise from child to child; only the last key of a node may repeat the one before.
            if !key.stacked || self.last.is_some_and(|last| key.row < last) {
                return Err(invalid(at, "row of a chunk", key.row));
            }
            if level == 0 {
                self.leaf_entry(at, child, &key)?;
            } else if self.wanted.any_in(key.row, next.row.max(key.row.saturating_add(1))) {
                self.node(child, Some(level))?;
            }
            key = next;
        }
        Ok(())
    }

    fn leaf_entry(&mut self, at: u64, address: u64, key: &Key) -> Result<(), OndiskError> {
        if self.last == Some(key.row) {
            return Err(invalid(at, "row of a chunk", key.row));
        }
        self.last = Some(key.row);
        if self.wanted.any_in(key.row, key.row.saturating_add(1)) {
            let Key { size, filter_mask, row, .. } = *key;
            (self.visit)(ChunkEntry { row, address, size, filter_mask });
        }
        Ok(())
    }

    /// A key. Only the last one of a node, which is of no chunk, may have offsets along other axes.
    fn key(&self, cursor: &mut Cursor<'_>) -> Result<Key, OndiskError> {
        let (size, filter_mask) = (cursor.u32()?, cursor.u32()?);
        let row = u64::from_le_bytes(cursor.array()?);
        let others = cursor.take(8 * self.tree.rank)?;
        let stacked = row.is_multiple_of(self.tree.edge) && others.iter().all(|&byte| byte == 0);
        Ok(Key { size, filter_mask, row, stacked })
    }
}

fn entries_used(mut cursor: Cursor<'_>) -> Result<u16, OndiskError> {
    cursor.take(6)?;
    cursor.u16()
}

fn invalid(address: u64, field: &'static str, value: u64) -> OndiskError {
    OndiskError::Invalid { structure: Structure::ChunkIndex, address, field, value }
}

#[cfg(test)]
mod tests {
    use super::super::FieldWidth;
    use super::*;

    /// Rows of a chunk.
    const EDGE: u64 = 10;

    /// A node with these (key row, child address) pairs and the row of its last key.
    fn node(level: u8, children: &[(u64, u64)], last: u64) -> Vec<u8> {
        let key = |row: u64| {
            let mut key =
                [u32::try_from(row + 1).unwrap().to_le_bytes(), 2u32.to_le_bytes()].concat();
            key.extend([row, 0, 0].map(u64::to_le_bytes).concat());
            key
        };
        let mut bytes = b"TREE".to_vec();
        bytes.extend([1, level]);
        bytes.extend(u16::try_from(children.len()).unwrap().to_le_bytes());
        bytes.extend([u64::MAX; 2].map(u64::to_le_bytes).concat());
        for (row, address) in children {
            bytes.extend(key(*row));
            bytes.extend(address.to_le_bytes());
        }
        bytes.extend(key(last));
        bytes
    }

    /// A tree of two levels over chunks 0 to 5 at addresses 1000, 1001, ...: a root at 0, leaves at 512 and 1024.
    fn image() -> Vec<u8> {
        let leaf = |chunks: std::ops::Range<u64>| {
            let children: Vec<_> = chunks.clone().map(|k| (k * EDGE, 1000 + k)).collect();
            node(0, &children, chunks.end * EDGE)
        };
        let mut bytes = vec![0; 4096];
        for (at, node) in
            [(0, node(1, &[(0, 512), (30, 1024)], 60)), (512, leaf(0..3)), (1024, leaf(3..6))]
        {
            bytes[at..at + node.len()].copy_from_slice(&node);
        }
        bytes
    }

    fn tree(root: Option<u64>) -> ChunkBTree {
        let (offset_size, length_size) = (FieldWidth::Eight, FieldWidth::Eight);
        let superblock = Superblock { version: 0, base_address: 0, offset_size, length_size };
        ChunkBTree::new(superblock, root, &[EDGE, 4])
    }

    fn rows(bytes: &[u8], wanted: Option<&[u64]>) -> Result<Vec<u64>, OndiskError> {
        let mut rows = Vec::new();
        let visit = |entry: ChunkEntry| {
            assert_eq!(entry.address, 1000 + entry.row / EDGE);
            assert_eq!((u64::from(entry.size), entry.filter_mask), (entry.row + 1, 2));
            rows.push(entry.row);
        };
        match wanted {
            Some(wanted) => tree(Some(0)).visit_rows(&bytes, wanted, visit)?,
            None => tree(Some(0)).visit_all(&bytes, visit)?,
        }
        Ok(rows)
    }

    #[test]
    fn chunks_are_visited_in_order_and_only_wanted_ones() {
        let bytes = image();
        assert_eq!(rows(&bytes, None).unwrap(), [0, 10, 20, 30, 40, 50]);
        for wanted in [&[][..], &[0], &[20, 30], &[10, 50], &[5, 15], &[60, 1000], &[0, 10, 20]] {
            let expected: Vec<u64> =
                wanted.iter().copied().filter(|row| row % EDGE == 0 && *row < 60).collect();
            assert_eq!(rows(&bytes, Some(wanted)).unwrap(), expected, "{wanted:?}");
        }
        tree(None).visit_all(&bytes.as_slice(), |_| panic!("nothing is stored")).unwrap();
    }

    #[test]
    fn damage_is_named() {
        let changed = |at: usize, value: u8| {
            let mut bytes = image();
            bytes[at] = value;
            rows(&bytes, None).unwrap_err().to_string()
        };
        // Signature, type and level of a leaf; no children; a key below the one before.
        assert!(changed(512, b'X').contains("signature"), "{}", changed(512, b'X'));
        assert!(changed(516, 0).contains("node type cannot be 0"));
        assert!(changed(517, 3).contains("node level cannot be 3"));
        assert!(changed(518, 0).contains("number of children cannot be 0"));
        assert!(changed(1024 + 24 + 8, 20).contains("row of a chunk cannot be 20"));
        // A key between two chunks, and one beside the stack.
        assert!(changed(1024 + 24 + 8, 31).contains("row of a chunk cannot be 31"));
        assert!(changed(1024 + 24 + 16, 4).contains("row of a chunk cannot be 30"));
        // Both children of the root are one leaf, then the root itself.
        let second_child = 24 + 2 * 32 + 8;
        let mut bytes = image();
        bytes[second_child..second_child + 2].copy_from_slice(&512u16.to_le_bytes());
        assert!(rows(&bytes, None).unwrap_err().to_string().contains("row of a chunk cannot be 0"));
        bytes[second_child..second_child + 2].copy_from_slice(&0u16.to_le_bytes());
        assert!(rows(&bytes, None).unwrap_err().to_string().contains("node level cannot be 1"));
        assert!(matches!(rows(&image()[..1030], None), Err(OndiskError::Truncated { .. })));
    }

    #[test]
    fn a_node_longer_than_the_file_is_refused_before_it_is_read() {
        let mut bytes = image();
        bytes[518..520].copy_from_slice(&u16::MAX.to_le_bytes());
        let needed = tree(None).node_size(u16::MAX.into()) as u64;
        assert!(matches!(
            rows(&bytes, None),
            Err(OndiskError::Truncated { address: 512, needed: found, .. }) if found == needed
        ));
    }

    #[test]
    fn any_damage_gives_an_end() {
        let original = image();
        for at in 0..1300 {
            for flip in [1u8, 0x80, 0xFF] {
                let mut bytes = original.clone();
                bytes[at] ^= flip;
                let mut visited = 0;
                let outcome = tree(Some(0)).visit_all(&bytes.as_slice(), |_| visited += 1);
                assert!(visited <= 6 || outcome.is_err(), "byte {at} ^ {flip:#x}");
            }
        }
    }
}
