package main

import (
	"math"
	"math/rand/v2"

	"github.com/urnd/urnd/internal/bench/zipf"
)

// trace is a sequence of requests for objects with their sizes.
type trace struct {
	name    string
	objects []uint32 // requested objects, in order
	sizes   []int64  // of each object, in bytes
}

// shape describes how to generate a trace. The seed makes each run identical.
type shape struct {
	name     string
	seed     uint64
	requests int
	// names is the number of popular objects, and exponent that of their Zipf distribution: the frequency of
	// the object with rank r is proportional to r to the power of -exponent.
	names    int
	exponent float64
	// scanEvery is the number of requests between scans, each of which requests scanLength objects once that
	// are never requested again; 0 for no scans.
	scanEvery, scanLength int
	// median and sigma are parameters of the log-normal distribution of sizes, between least and most. Sizes
	// are independent of popularity.
	median, sigma float64
	least, most   int64
}

// make generates the trace.
func (s shape) make() trace {
	random := rand.New(rand.NewPCG(s.seed, 0)) //nolint:gosec // identical numbers in each run
	ranks := zipf.New(s.names, s.exponent)
	place := random.Perm(s.names) // object for each rank
	t := trace{name: s.name, objects: make([]uint32, 0, s.requests)}
	next := uint32(s.names) //nolint:gosec // some millions
	for requested := 0; len(t.objects) < s.requests; requested++ {
		if s.scanEvery > 0 && requested > 0 && requested%s.scanEvery == 0 {
			for range min(s.scanLength, s.requests-len(t.objects)) {
				t.objects = append(t.objects, next)
				next++
			}
			continue
		}
		t.objects = append(t.objects, uint32(place[ranks.Rank(random.Float64())])) //nolint:gosec // as above
	}
	t.sizes = make([]int64, next)
	for i := range t.sizes {
		size := s.median * math.Exp(s.sigma*random.NormFloat64())
		t.sizes[i] = min(max(int64(size), s.least), s.most)
	}
	return t
}
