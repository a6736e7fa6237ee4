package main

import (
	"math"
	"math/rand/v2"

	"github.com/urnd/urnd/internal/bench/zipf"
)

// trace is what clients ask for, one after another, and how large it is.
type trace struct {
	name    string
	objects []uint32 // asked for, in order
	sizes   []int64  // of each object, in octets
}

// shape is how a trace is made: from a seed, so that each run makes the same.
type shape struct {
	name     string
	seed     uint64
	requests int
	// names is how many objects the popular ones are, and exponent that of their Zipf distribution: the object of rank r is asked for
	// in proportion to r to the power of -exponent.
	names    int
	exponent float64
	// scanEvery is after how many requests a scan begins, which asks once for scanLength objects that nobody asks for again; 0 for none.
	scanEvery, scanLength int
	// median and sigma are those of the log-normal distribution of sizes, between least and most; sizes and popularity are independent.
	median, sigma float64
	least, most   int64
}

// make returns the trace.
func (s shape) make() trace {
	random := rand.New(rand.NewPCG(s.seed, 0)) //nolint:gosec // the same numbers in each run
	ranks := zipf.New(s.names, s.exponent)
	place := random.Perm(s.names) // of a rank
	t := trace{name: s.name, objects: make([]uint32, 0, s.requests)}
	next := uint32(s.names) //nolint:gosec // some millions
	for asked := 0; len(t.objects) < s.requests; asked++ {
		if s.scanEvery > 0 && asked > 0 && asked%s.scanEvery == 0 {
			for range min(s.scanLength, s.requests-len(t.objects)) {
				t.objects = append(t.objects, next)
				next++
			}
			continue
		}
		t.objects = append(t.objects, uint32(place[ranks.Rank(random.Float64())])) //nolint:gosec // likewise
	}
	t.sizes = make([]int64, next)
	for i := range t.sizes {
		size := s.median * math.Exp(s.sigma*random.NormFloat64())
		t.sizes[i] = min(max(int64(size), s.least), s.most)
	}
	return t
}
