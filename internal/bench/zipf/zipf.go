// Package zipf draws ranks from a Zipf distribution with any exponent; math/rand only supports exponents above
// 1. The number of ranks and the exponent enter; a rank leaves for each uniformly distributed number.
package zipf

import (
	"math"
	"sort"
)

// Law contains the cumulative weights of the ranks: the weight of rank r, from 1, is r to the power of
// -exponent.
type Law []float64

// New returns the distribution of n ranks.
func New(n int, exponent float64) Law {
	l, sum := make(Law, n), 0.0
	for i := range l {
		sum += math.Pow(float64(i+1), -exponent)
		l[i] = sum
	}
	return l
}

// Rank returns the rank, from 0, for a uniformly distributed number from 0 to 1.
func (l Law) Rank(at float64) int { return sort.SearchFloat64s(l, at*l[len(l)-1]) }

// Share returns the probability of a rank, from 0.
func (l Law) Share(rank int) float64 {
	if rank == 0 {
		return l[0] / l[len(l)-1]
	}
	return (l[rank] - l[rank-1]) / l[len(l)-1]
}
