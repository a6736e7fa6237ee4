//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestProfiled(t *testing.T) {
	for part, want := range map[string]int{
		"": 10, "cached redirect": 2, "1 MiB": 0, "CONNECT": 0, "miss": 2,
		"miss|cached redirect": 4,
	} {
		if got := profiled(part); len(got) != want {
			t.Errorf("%q: %d rows: %v", part, len(got), got)
		}
	}
}

func TestFetchProfile(t *testing.T) {
	var query string
	status, size := http.StatusOK, 10
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.String()
		w.WriteHeader(status)
		_, _ = w.Write(make([]byte, size))
	}))
	defer admin.Close()
	for _, c := range []struct {
		status, size int
		ok           bool
	}{{http.StatusOK, 10, true}, {http.StatusOK, maxProfile + 1, false}, {http.StatusForbidden, 10, false}} {
		status, size = c.status, c.size
		got, err := fetchProfile(t.Context(), strings.TrimPrefix(admin.URL, "http://"), 50*time.Second)
		if (err == nil) != c.ok || c.ok && len(got) != c.size || query != "/debug/pprof/profile?seconds=50" {
			t.Errorf("%+v: %d bytes, %v, asked for %q", c, len(got), err, query)
		}
	}
}
