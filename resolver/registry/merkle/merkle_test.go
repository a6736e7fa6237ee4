package merkle_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

func leaf(i uint64) merkle.Hash { return merkle.Leaf(binary.BigEndian.AppendUint64(nil, i)) }

// stored is a tree whose leaves and tiles are there.
type stored struct {
	merkle.Tree
	leaves []merkle.Hash
	tiles  []merkle.Tile
}

var errNone = errors.New("there is none")

func (s *stored) Tile(i uint64) (merkle.Hash, error) {
	if i >= uint64(len(s.tiles)) {
		return merkle.Hash{}, errNone
	}
	return s.tiles[i].Hash, nil
}

func (s *stored) Leaves(from uint64, n int) ([]merkle.Hash, error) {
	return s.leaves[from:][:n], nil
}

func (s *stored) add(n int) {
	for range n {
		leaf := leaf(s.Size())
		s.leaves = append(s.leaves, leaf)
		if tile, full := s.Append(leaf); full {
			s.tiles = append(s.tiles, tile)
		}
	}
}

// RFC 6962 section 2.1: the hashes of an empty tree and of an empty leaf, as its implementations print them.
func TestKnown(t *testing.T) {
	var empty merkle.Tree
	root := empty.Root()
	if got := hex.EncodeToString(root[:]); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("the root of an empty tree is %s", got)
	}
	none := merkle.Leaf(nil)
	if got := hex.EncodeToString(none[:]); got != "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d" {
		t.Errorf("the hash of an empty leaf is %s", got)
	}
}

// Every leaf is proven, and nothing else is.
func TestProve(t *testing.T) {
	var s stored
	for _, size := range []int{1, 2, 3, 7, 255, 256, 257, 700, 1025} {
		s.add(size - int(s.Size()))
		root := s.Root()
		for i := range uint64(size) {
			p, err := merkle.Prove(&s, i, uint64(size))
			if err != nil {
				t.Fatalf("proving %d of %d: %v", i, size, err)
			}
			if err := p.Verify(leaf(i), root); err != nil {
				t.Errorf("%d of %d: %v", i, size, err)
			}
			if p.Verify(leaf(i+1), root) == nil {
				t.Errorf("the proof of %d of %d also proves another leaf", i, size)
			}
		}
	}
	if _, err := merkle.Prove(&s, 1025, 1025); err == nil {
		t.Error("a leaf that is not there was proven")
	}
}

func TestMarshal(t *testing.T) {
	var s stored
	for range 300 {
		octets, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var again merkle.Tree
		if err := again.UnmarshalBinary(octets); err != nil || again.Root() != s.Root() || again.Size() != s.Size() {
			t.Fatalf("a tree of %d leaves was read as one of %d, %v", s.Size(), again.Size(), err)
		}
		if len(octets) > 1 && again.UnmarshalBinary(octets[:len(octets)-1]) == nil {
			t.Fatalf("half a tree of %d leaves was read", s.Size())
		}
		s.add(1)
	}
}

func BenchmarkAppend(b *testing.B) {
	var s merkle.Tree
	data := make([]byte, 150)
	b.ReportAllocs()
	for b.Loop() {
		s.Append(merkle.Leaf(data))
	}
}
