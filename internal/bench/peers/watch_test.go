//go:build linux

package main

import (
	"net/http"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	since := time.Unix(1000, 0)
	at := func(start, end, status int) sample {
		return sample{
			since.Add(time.Duration(start) * time.Second),
			since.Add(time.Duration(end) * time.Second), status,
		}
	}
	for _, tt := range []struct {
		samples []sample
		want    verdict
		text    string
	}{
		{nil, verdict{}, "0 of 0 requests failed, the longest took 0.000 s"},
		{[]sample{at(-9, -1, 0)}, verdict{}, "0 of 0 requests failed, the longest took 0.000 s"},
		{
			[]sample{at(-1, 2, http.StatusOK), at(3, 4, http.StatusBadGateway), at(1, 3, 0), at(5, 6, http.StatusOK)},
			verdict{4, 2, 4 * time.Second, 3 * time.Second},
			"2 of 4 requests failed, the last after 4.000 s, the longest took 3.000 s",
		},
	} {
		if got := judge(tt.samples, since); got != tt.want || got.String() != tt.text {
			t.Errorf("%v: %+v, %v", tt.samples, got, got)
		}
	}
}

// TestParent checks that a closed parent restarts at its address, and that a silent one does not respond.
func TestParent(t *testing.T) {
	p, err := newParent(t.Context(), "127.0.0.1:0", makeBody())
	if err != nil {
		t.Fatal(err)
	}
	v := &server{at: place{Forward: p.place.Origin}}
	client := proxied(v)
	client.Timeout = 0
	target := "http://" + wantedHost + "/no-store/7"
	ask := func(want int) {
		t.Helper()
		if got := request(t.Context(), client, target); got.status != want {
			t.Errorf("status %d, not %d", got.status, want)
		}
	}
	ask(http.StatusOK)
	p.close()
	ask(0)
	if p, err = newParent(t.Context(), p.place.Origin, makeBody()); err != nil {
		t.Fatal(err)
	}
	ask(http.StatusOK)
	p.silent.Store(true)
	client.Timeout = 100 * time.Millisecond
	ask(0)
	client.CloseIdleConnections()
	p.close()
}
