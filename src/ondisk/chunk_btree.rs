//! B-trees of version 1 over the chunks of a dataset (specification III.A.1, node type 1).
//!
//! ```text
//! node:  "TREE" | type 1 | level u8 | entries used u16 | left sibling O | right sibling O
//!        | key 0 | child 0 | key 1 | child 1 ... | key n
//! key:   stored bytes u32 | filter mask u32 | offset of the chunk along each axis u64 ... | 0 u64
//! child: at level 0 the chunk, above it a node of the next level down
//! ```
//!
//! A key is that of the first chunk below its child. The tree is walked from the root, levels falling by one from node to
//! node. A walk to all chunks checks that rows rise strictly from chunk to chunk; one to some of them looks its way up in
//! each node, and goes into no child but for a row that it looks for nowhere else. So a walk through a damaged tree ends too.

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
        Walk { tree: self, file, visit, last: None, nodes: Vec::new() }.node(address, None, wanted)
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
    visit: V,
    /// Row of the chunk that was visited or passed last.
    last: Option<u64>,
    /// A buffer for each level, kept from node to node.
    nodes: Vec<Vec<u8>>,
}

impl<V: FnMut(ChunkEntry)> Walk<'_, V> {
    /// Visits the wanted chunks below the node at an absolute address; `above` is the level of its parent.
    fn node(
        &mut self,
        address: u64,
        above: Option<u8>,
        wanted: Wanted<'_>,
    ) -> Result<(), OndiskError> {
        let mut bytes = self.nodes.pop().unwrap_or_default();
        let outcome = self.read(address, &mut bytes).and_then(|()| {
            let node = Node::decode(self.tree, address, above, &bytes)?;
            match wanted {
                Wanted::All => self.all_children(&node),
                Wanted::Rows(rows) => self.children_with(&node, rows),
            }
        });
        self.nodes.push(bytes);
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

    fn all_children(&mut self, node: &Node<'_>) -> Result<(), OndiskError> {
        for position in 0..node.used {
            let key = node.key(position)?;
            // Rows rise from child to child.
            if self.last.is_some_and(|last| key.row < last) {
                return Err(node.invalid(position, "row of a chunk", key.row));
            }
            if node.level > 0 {
                self.node(node.child(position)?, Some(node.level), Wanted::All)?;
            } else if self.last == Some(key.row) {
                return Err(node.invalid(position, "row of a chunk", key.row));
            } else {
                self.last = Some(key.row);
                (self.visit)(key.chunk(node.child(position)?));
            }
        }
        Ok(())
    }

    fn children_with(&mut self, node: &Node<'_>, rows: &[u64]) -> Result<(), OndiskError> {
        let mut rows = rows;
        while let Some(&row) = rows.first() {
            let mut below = 1;
            // The last child that begins at the row or before it.
            if let Some(position) = node.keys_up_to(row).checked_sub(1) {
                if node.level > 0 {
                    let end = node.row(position + 1).max(node.row(position).saturating_add(1));
                    let inside = rows.partition_point(|&row| row < end);
                    if inside > 0 {
                        // Of the key only what it leads to is of use here, but it has to be one.
                        node.key(position)?;
                        let child = node.child(position)?;
                        self.node(child, Some(node.level), Wanted::Rows(&rows[..inside]))?;
                        below = inside;
                    }
                } else if node.row(position) == row {
                    (self.visit)(node.key(position)?.chunk(node.child(position)?));
                }
            }
            rows = &rows[below..];
        }
        Ok(())
    }
}

/// A node of the tree with all of its keys and children.
struct Node<'n> {
    tree: &'n ChunkBTree,
    address: u64,
    level: u8,
    /// Number of children.
    used: usize,
    /// Keys and children in turn, one key more than children.
    pairs: &'n [u8],
}

impl<'n> Node<'n> {
    /// Decodes a node that was read; `above` is the level of its parent.
    fn decode(
        tree: &'n ChunkBTree,
        address: u64,
        above: Option<u8>,
        bytes: &'n [u8],
    ) -> Result<Self, OndiskError> {
        let mut cursor = Cursor::new(bytes, Structure::ChunkIndex, address);
        let used = usize::from(entries_used(cursor.clone())?);
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
        cursor.take(tree.header_size() - 6)?;
        let pairs = cursor.take(tree.node_size(used) - tree.header_size())?;
        Ok(Self { tree, address, level, used, pairs })
    }

    /// Where a key begins in the pairs.
    fn key_at(&self, position: usize) -> usize {
        position * (self.tree.key_size() + self.tree.superblock.offset_size.bytes())
    }

    /// The row of a key, of the last one too: 0 for one that is not there.
    fn row(&self, position: usize) -> u64 {
        let row = self.pairs.get(self.key_at(position) + 8..).and_then(<[u8]>::first_chunk);
        row.map_or(0, |row| u64::from_le_bytes(*row))
    }

    /// How many children have a key of this row or one before it.
    fn keys_up_to(&self, row: u64) -> usize {
        let (mut low, mut high) = (0, self.used);
        while low < high {
            let middle = low.midpoint(high);
            if self.row(middle) <= row { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The key of a child, which is that of a chunk of the stack: on the grid along the first axis, 0 along the others.
    fn key(&self, position: usize) -> Result<Key, OndiskError> {
        let mut cursor = self.cursor(self.key_at(position));
        let (size, filter_mask) = (cursor.u32()?, cursor.u32()?);
        let row = u64::from_le_bytes(cursor.array()?);
        let others = cursor.take(8 * self.tree.rank)?;
        if !row.is_multiple_of(self.tree.edge) || others.iter().any(|&byte| byte != 0) {
            return Err(self.invalid(position, "row of a chunk", row));
        }
        Ok(Key { size, filter_mask, row })
    }

    /// The absolute address of a child.
    fn child(&self, position: usize) -> Result<u64, OndiskError> {
        let superblock = &self.tree.superblock;
        let mut cursor = self.cursor(self.child_at(position));
        match cursor.relative_address(superblock.offset_size)? {
            Some(child) => superblock.absolute(child, Structure::ChunkIndex),
            None => Err(self.invalid(position, "address of a child", u64::MAX)),
        }
    }

    fn child_at(&self, position: usize) -> usize {
        self.key_at(position) + self.tree.key_size()
    }

    /// The pairs from one of their bytes on.
    fn cursor(&self, at: usize) -> Cursor<'n> {
        let bytes = self.pairs.get(at..).unwrap_or_default();
        Cursor::new(bytes, Structure::ChunkIndex, self.address_of(at))
    }

    /// Where a byte of the pairs stands in the file.
    fn address_of(&self, at: usize) -> u64 {
        self.address.saturating_add((self.tree.header_size() + at) as u64)
    }

    /// A fault of a child.
    fn invalid(&self, position: usize, field: &'static str, value: u64) -> OndiskError {
        invalid(self.address_of(self.child_at(position)), field, value)
    }
}

/// The key of a chunk.
struct Key {
    size: u32,
    filter_mask: u32,
    row: u64,
}

impl Key {
    /// What it says of the chunk at an address.
    fn chunk(&self, address: u64) -> ChunkEntry {
        let Self { size, filter_mask, row } = *self;
        ChunkEntry { row, address, size, filter_mask }
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

    fn rows_of(bytes: &[u8], wanted: &[u64]) -> Result<Vec<u64>, OndiskError> {
        let mut rows = Vec::new();
        tree(Some(0)).visit_rows(&bytes, wanted, |entry| rows.push(entry.row))?;
        Ok(rows)
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
                // Who looks for rows finds them where they should be, or does not, and finds none twice.
                if let Ok(found) = rows_of(&bytes, &[0, 10, 50]) {
                    assert!(found.is_sorted() && found.len() <= 3, "byte {at} ^ {flip:#x}");
                }
            }
        }
    }
}
