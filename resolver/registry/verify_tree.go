package registry

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

// tree checks the roots that were written with each transaction, by the leaves of parts.
func (v *verifier) tree(ctx context.Context, parts <-chan *part) error {
	t := treeVerifier{verifier: v, sets: newSetVerifier(v)}
	err := v.store.Read(ctx, func(tx Tx) error {
		tree, err := tx.Document(TableTree, treeKey)
		t.isStored = tree != nil
		return err
	})
	if err != nil {
		return err
	}
	for p := range parts {
		if err := <-p.done; err != nil {
			return err
		}
		if err := t.part(ctx, p); err != nil {
			return err
		}
		v.progress(p.last, v.head)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.end(ctx)
}

// treeVerifier makes the tree anew.
type treeVerifier struct {
	*verifier
	tree    merkle.Tree
	last    Seq // of the last commit
	commits []commit
	sets    setVerifier
	// isStored is whether the store has a tree.
	isStored bool
	broken   bool // a root that does not fit is reported once: those after it do not fit either
}

// part appends the leaves of a part, and compares the roots of the commits and the tiles that end within it.
func (t *treeVerifier) part(ctx context.Context, p *part) error {
	tiles := make(map[uint64]merkle.Hash)
	return t.store.Read(ctx, func(tx Tx) error {
		if err := t.load(tx, p); err != nil {
			return err
		}
		if err := t.sets.load(tx, p); err != nil {
			return err
		}
		at := 0
		for i, leaf := range p.leaves {
			if tile, full := t.tree.Append(leaf); full {
				tiles[tile.Index] = tile.Hash
			}
			for at < len(t.commits) && t.commits[at].last == p.first+Seq(i) {
				if err := t.compare(tx, t.commits[at]); err != nil {
					return err
				}
				at++
			}
		}
		p.leaves = nil
		return t.compareTiles(tx, tiles)
	})
}

// load reads the commits that end within a part.
func (t *treeVerifier) load(tx Tx, p *part) error {
	t.commits = t.commits[:0]
	after := ""
	if p.first > 1 {
		after = seqKey(p.first - 1)
	}
	for {
		page, err := tx.Documents(TableCommits, "", after, verifyPage)
		if err != nil {
			return err
		}
		for _, d := range page {
			after = d.Key
			c, err := commitOf(d)
			if err != nil {
				t.report(err.Error())
				continue
			}
			if c.last > p.last {
				return nil
			}
			t.commits = append(t.commits, c)
		}
		if len(page) < verifyPage {
			return nil
		}
	}
}

// compare compares what was written with a transaction with the tree.
func (t *treeVerifier) compare(tx Tx, c commit) error {
	if c.first != t.last+1 {
		t.report(fmt.Sprintf("the commit of the numbers %d to %d follows that of number %d", c.first, c.last, t.last))
	}
	t.last = c.last
	if root := t.tree.Root(); root != c.root && !t.broken {
		t.broken = true
		t.report(fmt.Sprintf("the numbers %d to %d, or those before them, are not as they were written: their root is %x, and was %x",
			c.first, c.last, root, c.root))
	}
	return t.sets.compare(tx, c)
}

// compareTiles compares tiles with those that are stored.
func (t *treeVerifier) compareTiles(tx Tx, tiles map[uint64]merkle.Hash) error {
	for index, hash := range tiles {
		value, err := tx.Document(TableTree, tileKey(index))
		if err != nil {
			return err
		}
		if string(value) != string(hash[:]) && t.isStored {
			t.report(fmt.Sprintf("the hash of the numbers from %d on is not that of the versions", index*merkle.TileSize+1))
		}
	}
	return nil
}

// isSealed reports whether there are rows that were written with a tree.
func (t *treeVerifier) isSealed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sealed
}

// end compares the tree that is stored, and what there should be no more of.
func (t *treeVerifier) end(ctx context.Context) error {
	return t.store.Read(ctx, func(tx Tx) error {
		stored, err := treeOf(tx)
		switch {
		case err != nil:
			return err
		case stored == nil && t.last == 0 && !t.isSealed():
			return nil // it was written before there were trees, and nothing since
		case stored == nil:
			t.report("the tree of the registry is missing")
			return nil
		case stored.Size() < t.tree.Size():
			t.report(fmt.Sprintf("the tree has %d versions, and there are %d", stored.Size(), t.tree.Size()))
		case stored.Size() > t.tree.Size() && t.isHead(tx):
			t.report(fmt.Sprintf("the tree has %d versions, and there are %d", stored.Size(), t.tree.Size()))
		case stored.Size() == t.tree.Size() && stored.Root() != t.tree.Root() && !t.broken:
			t.report("the root of the tree is not that of the versions")
		}
		if t.last != t.head {
			t.report(fmt.Sprintf("no commit has the numbers after %d", t.last))
		}
		return t.sets.end(tx, t.isHead(tx))
	})
}

// isHead reports whether nothing was written since all versions were read.
func (t *treeVerifier) isHead(tx Tx) bool {
	later, err := tx.Rows(t.head, 1)
	return err == nil && len(later) == 0
}
