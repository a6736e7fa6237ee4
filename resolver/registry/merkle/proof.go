package merkle

import (
	"fmt"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

// Proof shows that a leaf is in a tree (RFC 6962 section 2.1.1).
type Proof struct {
	Index  uint64 // of the leaf
	Size   uint64 // of the tree
	Hashes []Hash
}

// Leaves are where the hashes of a tree are read from.
type Leaves interface {
	// Tile returns the hash above a full tile.
	Tile(index uint64) (Hash, error)
	// Leaves returns the hashes of the leaves from one on, as many as n.
	Leaves(from uint64, n int) ([]Hash, error)
}

// Prove returns the proof of a leaf in a tree of a size.
func Prove(from Leaves, index, size uint64) (Proof, error) {
	nodes, err := proof.Inclusion(index, size)
	if err != nil {
		return Proof{}, fmt.Errorf("proving that there is number %d: %w", index+1, err)
	}
	hashes := make([][]byte, len(nodes.IDs))
	for i, id := range nodes.IDs {
		if hashes[i], err = hashOf(from, id); err != nil {
			return Proof{}, err
		}
	}
	if hashes, err = nodes.Rehash(hashes, node); err != nil {
		return Proof{}, fmt.Errorf("proving that there is number %d: %w", index+1, err)
	}
	p := Proof{Index: index, Size: size, Hashes: make([]Hash, len(hashes))}
	for i, h := range hashes {
		p.Hashes[i] = Hash(h)
	}
	return p, nil
}

// hashOf returns the hash of a node, all of whose leaves there are.
func hashOf(from Leaves, id compact.NodeID) ([]byte, error) {
	begin, end := id.Coverage()
	below := factory().NewEmptyRange(0)
	if id.Level < tileLevel {
		leaves, err := from.Leaves(begin, int(end-begin)) //nolint:gosec // at most TileSize
		if err != nil {
			return nil, err
		}
		for _, leaf := range leaves {
			if err := below.Append(leaf[:], nil); err != nil {
				return nil, err
			}
		}
		return below.GetRootHash(nil)
	}
	for tile := begin / TileSize; tile < end/TileSize; tile++ {
		hash, err := from.Tile(tile)
		if err == nil {
			err = below.Append(hash[:], nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return below.GetRootHash(nil)
}

// Verify returns an error unless a proof shows that a leaf is in the tree with a root.
func (p Proof) Verify(leaf, root Hash) error {
	hashes := make([][]byte, len(p.Hashes))
	for i := range p.Hashes {
		hashes[i] = p.Hashes[i][:]
	}
	return proof.VerifyInclusion(rfc6962.DefaultHasher, p.Index, p.Size, leaf[:], hashes, root[:])
}
