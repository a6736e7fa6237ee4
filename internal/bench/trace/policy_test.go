package main

import (
	"strings"
	"testing"
)

// asking returns a trace of requests for objects, named by letters, with these sizes. The first half only fills
// the cache.
func asking(objects string, sizes ...int64) trace {
	t := trace{sizes: sizes}
	for _, c := range objects {
		t.objects = append(t.objects, uint32(c-'a'))
	}
	return t
}

func TestPolicies(t *testing.T) {
	for _, tt := range []struct {
		name, objects string
		sizes         []int64
		worth         priority
		hits          int // in the second half
	}{
		{"LRU has what was asked for last", "abcc" + "bacb", []int64{1, 1, 1}, lru, 1}, // then a replaces c
		// Object c, then d, are evicted immediately.
		{"LFU has what is asked for most", "aaabc" + "badab", []int64{1, 1, 1, 1}, lfu, 3},
		// Object d is evicted.
		{"GDSF has several small ones for a large one", "abcabc" + "dabcab", []int64{1, 1, 1, 3}, gdsf, 5},
		// Objects a, b and c are evicted.
		{"LRU has the large one", "abcabc" + "dabcab", []int64{1, 1, 1, 3}, lru, 2},
		// Object c is evicted immediately.
		{"Belady has what is asked for next", "abca" + "bacb", []int64{1, 1, 1}, belady, 3},
		{"what is larger than the cache is not in it", "aabb" + "abab", []int64{1, 4}, belady, 2},          // b is not
		{"an object that is asked for once more is not twice there", "aaaa" + "aaaa", []int64{2}, gdsf, 4}, // 2 bytes
		{"the first half is not counted", "abcdef", []int64{1, 1, 1, 1, 1, 1}, lru, 0},                     // no hit
	} {
		budget := int64(2)
		if len(tt.sizes) == 4 && tt.sizes[3] == 3 {
			budget = 3
		}
		requested := asking(tt.objects, tt.sizes...)
		got := requested.replay(budget, tt.worth)
		if want := float64(tt.hits) / float64(len(requested.objects)-len(requested.objects)/2); got.objects != want {
			t.Errorf("%s: %s, want %.3f", tt.name, got, want)
		}
	}
}

// small returns a trace that takes little time.
func small() shape {
	return shape{
		name: "small", seed: 1, requests: 60_000, names: 20_000, exponent: 0.8,
		median: 4 << 10, sigma: 0.8, least: 128, most: 256 << 10,
	}
}

// TestShape checks that the same seed generates the same trace, in which few objects account for most requests,
// and those of a scan are requested once.
func TestShape(t *testing.T) {
	s := small()
	s.scanEvery, s.scanLength = 1000, 500
	one, other := s.make(), s.make()
	requested := make([]int, len(one.sizes))
	for i, object := range one.objects {
		if other.objects[i] != object {
			t.Fatal("the same seed makes another trace")
		}
		requested[object]++
	}
	scanned, most := 0, 0
	for object, n := range requested {
		most = max(most, n)
		if object >= s.names {
			scanned += n
			if n != 1 {
				t.Errorf("an object of a scan is asked for %d times", n)
			}
		}
		if size := one.sizes[object]; size < s.least || size > s.most || size != other.sizes[object] {
			t.Errorf("an object has %d bytes, and %d", size, other.sizes[object])
		}
	}
	if share := float64(scanned) / float64(s.requests); len(one.objects) != s.requests || share < 0.3 || share > 0.36 {
		t.Errorf("%d requests, %.2f of them of scans", len(one.objects), share)
	}
	if most < 1000 || most > 1500 { // the sum of the weights is 32, there are 40,000 requests
		t.Errorf("the most popular object is asked for %d times", most)
	}
}

// TestRatios checks that urnd has a better ratio than LRU by object and by byte, and is close to GDSF by
// object, which knows all sizes and uses.
func TestRatios(t *testing.T) {
	const budget = 16 << 20
	requested := small().make()
	own, err := requested.replayUrnd(t.Context(), budget)
	if err != nil {
		t.Fatal(err)
	}
	recent, sized, best := requested.replay(budget, lru), requested.replay(budget, gdsf),
		requested.replay(budget, belady)
	t.Logf("urnd %s, LRU %s, GDSF %s, Belady %s", own, recent, sized, best)
	if own.objects <= recent.objects || own.objects < 0.85*sized.objects || own.bytes < 0.95*recent.bytes {
		t.Errorf("urnd %s, LRU %s, GDSF %s", own, recent, sized)
	}
	if own.objects >= best.objects || sized.objects >= best.objects || recent.objects >= best.objects {
		t.Errorf("better than the best: urnd %s, LRU %s, GDSF %s, Belady %s", own, recent, sized, best)
	}
}

func TestRun(t *testing.T) {
	s := small()
	s.requests, s.names = 2000, 500
	var out strings.Builder
	if err := run(t.Context(), 4<<20, []shape{s}, &out); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Split(out.String(), "\n"); len(rows) != 4 || strings.Count(rows[0], "|") != 7 ||
		strings.Count(rows[2], "/") != 5 {
		t.Errorf("%s", out.String())
	}
}
