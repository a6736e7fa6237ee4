package zipf_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/urnd/urnd/internal/bench/zipf"
)

// TestLaw checks that drawn ranks have the probabilities of the law, and that these match the exponent.
func TestLaw(t *testing.T) {
	for _, exponent := range []float64{0.8, 1, 1.1} {
		const ranks, draws = 100, 200_000
		law := zipf.New(ranks, exponent)
		random := rand.New(rand.NewPCG(1, 2))
		counts := make([]float64, ranks)
		for range draws {
			counts[law.Rank(random.Float64())]++
		}
		sum := 0.0
		for rank := range ranks {
			share := law.Share(rank)
			sum += share
			if math.Abs(counts[rank]/draws-share) > 0.005 {
				t.Errorf("%v: rank %d has %v of %v", exponent, rank, counts[rank]/draws, share)
			}
		}
		if ratio := law.Share(0) / law.Share(9); math.Abs(sum-1) > 1e-9 ||
			math.Abs(ratio-math.Pow(10, exponent)) > 1e-9 {
			t.Errorf("%v: the sum is %v, and the first is %v times the tenth", exponent, sum, ratio)
		}
	}
}
