// Package merkle has the tree of hashes over the versions of a registry, by RFC 6962 section 2.1: one root stands for all of them, in
// their order, and a proof of some dozens of hashes shows that one of them is below it.
//
// Trees are those of github.com/transparency-dev/merkle, by whose programs roots and proofs can be checked without urnd.
package merkle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/transparency-dev/merkle/compact"
)

// Hash is a hash by SHA-256.
type Hash [sha256.Size]byte

// RFC 6962 section 2.1: what is hashed of a leaf and of a node begins with these.
const (
	leafPrefix = 0
	nodePrefix = 1
)

// Leaf returns the hash of a leaf with data.
func Leaf(data []byte) Hash {
	var most [512]byte // of nearly all
	return sha256.Sum256(append(append(most[:0], leafPrefix), data...))
}

// node returns the hash of a node above two others.
func node(left, right []byte) []byte {
	var b [1 + 2*sha256.Size]byte
	b[0] = nodePrefix
	copy(b[1:], left)
	copy(b[1+sha256.Size:], right)
	sum := sha256.Sum256(b[:])
	return sum[:]
}

// Tree is a tree that leaves are appended to: only the hashes that are needed for that, at most 64. Its zero value is empty. It
// is not safe for concurrent use.
type Tree struct{ whole *compact.Range }

// TileSize is how many leaves a tile has: the hashes above full tiles are stored, so that a proof need not read all leaves.
const TileSize = 1 << tileLevel

const tileLevel = 8

// Tile is the hash above TileSize leaves.
type Tile struct {
	Index uint64 // of the tile: that of its first leaf is TileSize times as much
	Hash  Hash
}

func (t *Tree) compact() *compact.Range {
	if t.whole == nil {
		t.whole = factory().NewEmptyRange(0)
	}
	return t.whole
}

// factory makes what computes the hashes of nodes.
func factory() *compact.RangeFactory { return &compact.RangeFactory{Hash: node} }

// Size returns how many leaves there are.
func (t *Tree) Size() uint64 { return t.compact().End() }

// Append appends a leaf, and returns the tile that is full by it.
func (t *Tree) Append(leaf Hash) (tile Tile, full bool) {
	// It fails where ranges do not fit, and a leaf always does.
	_ = t.compact().Append(leaf[:], func(id compact.NodeID, hash []byte) {
		if id.Level == tileLevel {
			tile, full = Tile{id.Index, Hash(hash)}, true
		}
	})
	return tile, full
}

// Root returns the root of the tree; that of an empty one is the hash of nothing (RFC 6962 section 2.1).
func (t *Tree) Root() Hash {
	root, err := t.compact().GetRootHash(nil)
	if err != nil || root == nil {
		return sha256.Sum256(nil)
	}
	return Hash(root)
}

// errTree is for octets that are no tree.
var errTree = errors.New("not a tree of hashes")

// MarshalBinary implements encoding.BinaryMarshaler.
func (t *Tree) MarshalBinary() ([]byte, error) {
	return append(binary.AppendUvarint(nil, t.Size()), bytes.Join(t.compact().Hashes(), nil)...), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (t *Tree) UnmarshalBinary(b []byte) error {
	size, n := binary.Uvarint(b)
	if n <= 0 || (len(b)-n)%sha256.Size != 0 {
		return errTree
	}
	var hashes [][]byte
	for b = bytes.Clone(b[n:]); len(b) > 0; b = b[sha256.Size:] {
		hashes = append(hashes, b[:sha256.Size:sha256.Size])
	}
	whole, err := factory().NewRange(0, size, hashes)
	if err != nil {
		return fmt.Errorf("%w: %w", errTree, err)
	}
	t.whole = whole
	return nil
}
