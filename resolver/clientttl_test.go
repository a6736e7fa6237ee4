package resolver_test

import (
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

func TestClientTTL(t *testing.T) {
	for _, c := range []struct {
		of        resolver.ClientTTL
		ttl, want time.Duration
	}{
		{resolver.ClientTTL{}, time.Minute, time.Minute},
		{resolver.ClientTTL{Lifetime: time.Hour}, time.Minute, time.Hour},
		{resolver.ClientTTL{Lifetime: time.Second}, time.Minute, time.Second},
		{resolver.ClientTTL{Lifetime: time.Hour, Bounded: true}, time.Minute, time.Minute},
		{resolver.ClientTTL{Lifetime: time.Second, Bounded: true}, time.Minute, time.Second},
		{resolver.ClientTTL{Lifetime: time.Hour}, 0, 0},                       // for one request only
		{resolver.ClientTTL{Lifetime: time.Hour}, -time.Second, -time.Second}, // stale
	} {
		if got := c.of.ClientLifetime(c.ttl); got != c.want {
			t.Errorf("%+v of %s: %s, want %s", c.of, c.ttl, got, c.want)
		}
	}
}
