package registry

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

// TreeHead says what a registry is, as a whole: whoever has kept it can show later that nothing of what there was has changed.
type TreeHead struct {
	Size Seq // how many versions, and other rows, there are
	Root merkle.Hash
}

// TreeHead returns the head of the tree over all versions.
func (r *Registry) TreeHead(ctx context.Context) (head TreeHead, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		tree, err := treeOf(tx)
		if err != nil || tree == nil {
			return err
		}
		head = TreeHead{Seq(tree.Size()), tree.Root()} //nolint:gosec // a Seq fits
		return nil
	})
	return head, err
}

// Proof shows that a version is in the tree with a head.
type Proof struct {
	Entry Entry
	Leaf  merkle.Hash
	Head  TreeHead
	merkle.Proof
}

// Prove returns the proof of the current version of a key; ErrUnknown if there is none.
func (r *Registry) Prove(ctx context.Context, key Key) (p Proof, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		entries, err := tx.Entries([]Key{key})
		if err != nil {
			return err
		}
		if p.Entry = entries[0]; !p.Entry.Exists() {
			return fmt.Errorf("%w: %s", ErrUnknown, key)
		}
		tree, err := treeOf(tx)
		switch {
		case err != nil:
			return err
		case tree == nil || Seq(tree.Size()) < p.Entry.Seq: //nolint:gosec // a Seq fits
			return fmt.Errorf("%w: nothing was changed since the registry has proofs: the next change makes them", ErrUnknown)
		}
		row, err := rowAt(tx, p.Entry.Seq)
		if err != nil {
			return err
		}
		if p.Leaf, err = row.leaf(); err != nil {
			return err
		}
		p.Head = TreeHead{Seq(tree.Size()), tree.Root()}                            //nolint:gosec // a Seq fits
		p.Proof, err = merkle.Prove(stored{tx}, uint64(p.Entry.Seq-1), tree.Size()) //nolint:gosec // it is positive
		return err
	})
	return p, err
}

// Verify returns an error unless the proof shows what it says.
func (p Proof) Verify() error { return p.Proof.Verify(p.Leaf, p.Head.Root) }

// stored is a tree as a store has it.
type stored struct{ tx Tx }

// Tile implements merkle.Leaves.
func (s stored) Tile(index uint64) (merkle.Hash, error) {
	value, err := s.tx.Document(TableTree, tileKey(index))
	if err == nil && len(value) != len(merkle.Hash{}) {
		err = fmt.Errorf("%w: the hash of the numbers from %d on is missing", ErrDamaged, index*merkle.TileSize+1)
	}
	if err != nil {
		return merkle.Hash{}, err
	}
	return merkle.Hash(value), nil
}

// Leaves implements merkle.Leaves.
func (s stored) Leaves(from uint64, n int) ([]merkle.Hash, error) {
	rows, err := s.tx.Rows(Seq(from), n) //nolint:gosec // a Seq fits
	if err != nil {
		return nil, err
	}
	leaves := make([]merkle.Hash, n)
	for i := range leaves {
		leaves[i] = emptyLeaf()
	}
	for i := range rows {
		at := rows[i].Seq - 1 - Seq(from) //nolint:gosec // a Seq fits
		if at >= Seq(n) {
			break
		}
		if leaves[at], err = rows[i].leaf(); err != nil {
			return nil, err
		}
	}
	return leaves, nil
}
