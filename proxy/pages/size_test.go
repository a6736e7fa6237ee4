package pages

import (
	"math"
	"testing"

	"github.com/dustin/go-humanize"
)

func TestSize(t *testing.T) {
	for size, want := range map[int64]string{
		0: "0 B", 9: "9 B", 10: "10 B", 999: "999 B", 1000: "1.0 kB", 1049: "1.0 kB", 1051: "1.1 kB", 9949: "9.9 kB",
		9951: "10 kB", 13_450: "13 kB",
		999_499: "999 kB",
		999_501: "1.0 MB", 1_234_567: "1.2 MB", 1e9: "1.0 GB", 1e12: "1.0 TB", 1e15: "1.0 PB", 1e18: "1.0 EB",
		math.MaxInt64: "9.2 EB",
	} {
		if got := string(appendSize(nil, size)); got != want {
			t.Errorf("%d bytes: %q, want %q", size, got, want)
		}
	}
}

func TestCommas(t *testing.T) {
	for _, n := range []int64{0, 1, 12, 123, 1234, 12345, 123456, 1234567, math.MaxInt64} {
		for _, signed := range []int64{n, -n, -n - 1} {
			if got := commas(signed); got != humanize.Comma(signed) {
				t.Errorf("%d: %q", signed, got)
			}
		}
	}
}
