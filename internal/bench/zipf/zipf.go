// Package zipf draws ranks by Zipf's law with any exponent: math/rand has none below 1.
package zipf

import (
	"math"
	"sort"
)

// Law has the sums of the weights of all ranks up to each one: that of rank r, from 1 on, is r to the power of -exponent.
type Law []float64

// New returns the law of n ranks.
func New(n int, exponent float64) Law {
	l, sum := make(Law, n), 0.0
	for i := range l {
		sum += math.Pow(float64(i+1), -exponent)
		l[i] = sum
	}
	return l
}

// Rank returns the rank, from 0 on, that a number from 0 to 1 stands for.
func (l Law) Rank(at float64) int { return sort.SearchFloat64s(l, at*l[len(l)-1]) }

// Share returns the part of all that has a rank, from 0 on.
func (l Law) Share(rank int) float64 {
	if rank == 0 {
		return l[0] / l[len(l)-1]
	}
	return (l[rank] - l[rank-1]) / l[len(l)-1]
}
