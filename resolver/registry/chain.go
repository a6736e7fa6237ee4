package registry

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

// The versions of a registry are the leaves of a tree of hashes, in the order of their Seq: leaf i is that of Seq i+1. With each
// transaction its root is written, so that nothing that was committed before can be changed without that the roots after it do not fit.
// A Seq that has no row, as versions before this had that were purged, is an empty leaf.

// treeKey is the key of the tree in TableTree; others are those of tiles.
const treeKey = "tree"

// tileKey returns the key of a tile, in their order.
func tileKey(index uint64) string { return fmt.Sprintf("tile %016x", index) }

// seqKey returns a Seq as a key, in their order.
func seqKey(seq Seq) string { return fmt.Sprintf("%016x", int64(seq)) }

// commit is what a transaction did to the tree.
type commit struct {
	first, last Seq
	set         Seq // the change set that it belongs to
	root        merkle.Hash
}

func (c *commit) document() Document {
	value := binary.AppendUvarint(nil, uint64(c.first)) //nolint:gosec // it is positive
	value = binary.AppendUvarint(value, uint64(c.set))  //nolint:gosec // it is positive
	return Document{Key: seqKey(c.last), Value: append(value, c.root[:]...)}
}

// commitOf returns the commit of a document. The error is ErrDamaged.
func commitOf(d Document) (commit, error) {
	last, err := strconv.ParseInt(d.Key, 16, 64)
	first, n := binary.Uvarint(d.Value)
	set, m := binary.Uvarint(d.Value[max(n, 0):])
	if err != nil || n <= 0 || m <= 0 || len(d.Value)-n-m != len(merkle.Hash{}) {
		return commit{}, fmt.Errorf("%w: the commit %q cannot be read", ErrDamaged, d.Key)
	}
	return commit{Seq(first), Seq(last), Seq(set), merkle.Hash(d.Value[n+m:])}, nil //nolint:gosec // only document writes it
}

// treeOf returns the tree of a store, nil where it has none yet.
func treeOf(tx Tx) (*merkle.Tree, error) {
	value, err := tx.Document(TableTree, treeKey)
	if err != nil || value == nil {
		return nil, err
	}
	tree := new(merkle.Tree)
	if err := tree.UnmarshalBinary(value); err != nil {
		return nil, fmt.Errorf("%w: the tree of the registry: %w", ErrDamaged, err)
	}
	return tree, nil
}

// chain appends to the tree within a transaction.
type chain struct {
	tx    WriteTx
	tree  *merkle.Tree
	tiles []Document
}

// openChain returns the chain of a store. Where there is none yet, what the store has becomes the first change set.
func openChain(tx WriteTx) (*chain, error) {
	tree, err := treeOf(tx)
	if err != nil {
		return nil, err
	}
	c := &chain{tx: tx, tree: tree}
	if tree == nil {
		c.tree = new(merkle.Tree)
	}
	return c, c.catchUp()
}

// rowsPage is how many rows are read at once.
const rowsPage = 1000

// catchUp appends what a store has that was written without a tree, as a change set: all of it at first, and what an older program
// writes that had the store open before its schema changed.
func (c *chain) catchUp() error {
	first := c.head() + 1
	for {
		rows, err := c.tx.Rows(c.head(), rowsPage)
		if err != nil {
			return err
		}
		if err := c.add(rows); err != nil {
			return err
		}
		if len(rows) < rowsPage {
			break
		}
		if err := c.flushTiles(); err != nil {
			return err
		}
	}
	if c.head() < first {
		return nil
	}
	if err := c.commit(first, first); err != nil {
		return err
	}
	return putSet(c.tx, ChangeSet{Number: first, Last: c.head(), Rows: int64(c.head() - first + 1), Kind: KindBefore})
}

// head returns the Seq of the last leaf.
func (c *chain) head() Seq { return Seq(c.tree.Size()) } //nolint:gosec // a Seq fits

// add appends rows, and empty leaves for what is missing before them.
func (c *chain) add(rows []Row) error {
	for i := range rows {
		for c.head()+1 < rows[i].Seq {
			c.leaf(emptyLeaf())
		}
		leaf, err := rows[i].leaf()
		if err != nil {
			return err
		}
		c.leaf(leaf)
	}
	return nil
}

// emptyLeaf is the leaf of a Seq without a row.
func emptyLeaf() merkle.Hash { return merkle.Leaf(nil) }

func (c *chain) leaf(leaf merkle.Hash) {
	if tile, full := c.tree.Append(leaf); full {
		c.tiles = append(c.tiles, Document{Key: tileKey(tile.Index), Value: tile.Hash[:]})
	}
}

func (c *chain) flushTiles() error {
	tiles := c.tiles
	c.tiles = nil
	return c.tx.Put(TableTree, tiles)
}

// commit writes the tree as it is after the rows from first on, which belong to a change set.
func (c *chain) commit(first, set Seq) error {
	octets, err := c.tree.MarshalBinary()
	if err != nil {
		return err
	}
	c.tiles = append(c.tiles, Document{Key: treeKey, Value: octets})
	if err := c.flushTiles(); err != nil {
		return err
	}
	made := commit{first: first, last: c.head(), set: set, root: c.tree.Root()}
	return c.tx.Put(TableCommits, []Document{made.document()})
}

// append writes rows, and commits them as part of a change set: 0 is a new one, whose number is the Seq of its first row.
func (c *chain) append(rows []Row, set Seq) error {
	first := c.head() + 1
	if set == 0 {
		set = first
	}
	if err := c.addAndWrite(rows); err != nil {
		return err
	}
	return c.commit(first, set)
}

// manyRows is from how many rows on hashing them is worth a goroutine.
const manyRows = 256

// addAndWrite appends rows to the tree and to the store, of many at the same time.
func (c *chain) addAndWrite(rows []Row) error {
	if len(rows) < manyRows {
		if err := c.add(rows); err != nil {
			return err
		}
		return c.tx.Append(rows)
	}
	var added error
	var wait sync.WaitGroup
	wait.Go(func() { added = c.add(rows) })
	defer wait.Wait() // also where the store panics
	written := c.tx.Append(rows)
	wait.Wait()
	return errors.Join(added, written)
}

// Append numbers new versions, which become current, and writes them as a change set of their own. Batch does it for
// those who change entries, and knows what else must change with them.
func Append(tx WriteTx, entries []Entry) error {
	_, err := write(tx, entries, nil, ChangeSet{})
	return err
}

// write numbers and writes new versions, and purges keys, as part of a change set, whose number is 0 for a new one. It returns the last Seq.
func write(tx WriteTx, entries []Entry, purged []Key, set ChangeSet) (last Seq, err error) {
	if len(entries) == 0 && len(purged) == 0 {
		return 0, nil
	}
	c, err := openChain(tx)
	if err != nil {
		return 0, err
	}
	number(entries, c.head())
	rows := rowsOf(entries)
	for _, key := range purged {
		versions, kept, err := purgeVersions(tx, key)
		if err != nil {
			return 0, err
		}
		rows = append(rows, purgeRow(c.head()+Seq(len(rows))+1, key, versions, kept, &set))
	}
	err = c.append(rows, set.Number)
	return c.head(), err
}

// Chain makes the tree of a store that was written without one, which takes some seconds for a million versions.
// Else the first change does so.
func Chain(ctx context.Context, s Store) error {
	is := false
	err := s.Read(ctx, func(tx Tx) error {
		tree, err := treeOf(tx)
		is = tree != nil
		return err
	})
	if err != nil || is {
		return err
	}
	return s.Write(ctx, func(tx WriteTx) error {
		_, err := openChain(tx)
		return err
	})
}
