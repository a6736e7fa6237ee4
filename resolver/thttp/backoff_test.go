package thttp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/thttp"
)

// slowNames is a server that does not respond for some names or, if silent, at all.
type slowNames struct{ silent bool }

func (s *slowNames) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	if s.silent || strings.Contains(r.URI.String(), "slow") {
		return nil, fmt.Errorf("%w: %w", scheme.ErrNoResponse, context.DeadlineExceeded)
	}
	return &scheme.Resource{Response: httpmessage.Response{
		Status: http.StatusSeeOther, Fields: httpmessage.NewFields("Location", "http://a.example/"),
		Body: http.NoBody,
	}}, nil
}

// A client that queries names for which a server is slow does not affect other names of the server: the client
// probes whether it responds at all.
func TestSlowNamesOfOneClient(t *testing.T) {
	s := new(slowNames)
	c := thttp.New(thttp.Config{
		Web: s, Timeout: time.Minute, MaxBody: 1 << 20, MaxLocations: 10, Now: func() time.Time { return now },
		Backoff: resolver.NewBackoff(time.Minute, func() time.Time { return now }),
	})
	ask := func(name string) error {
		_, err := c.Query(t.Context(), "http://server.example", queryOf(t, "urn:example:"+name, resolver.I2L))
		return err
	}
	for i := range 10 {
		if err := ask(fmt.Sprintf("slow%d", i)); err == nil {
			t.Fatal("a slow name is answered")
		}
	}
	if err := ask("a"); err != nil {
		t.Errorf("another name: %v", err)
	}
	s.silent = true
	for _, name := range []string{"b", "c"} {
		if err := ask(name); err == nil || strings.Contains(err.Error(), "in backoff") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ask("d"); err == nil || !strings.Contains(err.Error(), "in backoff") {
		t.Errorf("silent server queried again: %v", err)
	}
}
