package answer_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
)

// Each name of a batch counts as a request of its client: it is authorized, limited by the rate, and
// reported.
func TestBatchRights(t *testing.T) {
	s := start(t, func(c *answer.Config) { c.Names.OwnedPrefixes = []string{"http://own.example/"} })
	record := &resolver.Record{Name: "urn:x1:a", Version: 1, Status: "active"}
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		if q.NID() == "x2" || q.Client != netip.MustParseAddr("192.0.2.1") {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound}
		}
		return resolver.Answer{Locations: []resolver.Location{{
			URI:  "http://a.example/",
			From: &resolver.Source{Record: record},
		}}}, nil
	}
	for name, tt := range map[string]struct {
		query, body string
		change      func(*answer.BatchRights)
		want        []string
		reported    int32
		recorded    int32
	}{
		"a name of the registry": {"", "urn:x1:a", nil, []string{`"uri":"http://a.example/"`}, 0, 1},
		"one that is not found":  {"", "urn:x2:a", nil, []string{`"status":404`}, 1, 0},
		"a URL":                  {"", "http://b.example/", nil, []string{`"uri":"http://b.example/"`}, 0, 0},
		"a URL without the right": {
			"", "http://b.example/", func(r *answer.BatchRights) { r.URLs = false },
			[]string{`"status":403`},
			1, 0,
		},
		"a URL of this site": {
			"", "http://own.example/a", func(r *answer.BatchRights) { r.URLs = false },
			[]string{`"input":"http://own.example/a"`},
			0, 0,
		},
		"beyond the rate": {
			"", "urn:x1:a\nurn:x1:b", func(r *answer.BatchRights) { r.Allow = allowing(1) },
			[]string{`"status":429`, `"uri"`},
			1, 1,
		},
		"descriptions": {"?service=I2C", "urn:x1:a\nurn:x2:a\nurn:isbn:1", nil, []string{
			`"status":"located"`, `"status":"unknown"`,
			`"status":400`,
		}, 1, 1},
		"other names, and none": {
			"?service=I2Ns", "urn:isbn:0395363411\nurn:x2:a", nil,
			[]string{`urn:isbn:9780395363416`, `"status":404`},
			1, 1,
		},
		"the service of a directive":   {"", "urn:x1:a?s=I2C", nil, []string{`"@context"`}, 0, 1},
		"a directive beside a service": {"?service=I2Ls", "urn:x1:a?s=I2C", nil, []string{`"service":"I2Ls"`}, 0, 1},
	} {
		var reported, recorded atomic.Int32
		before := s.rights
		s.rights.WithClient = func(q resolver.Query) resolver.Query {
			q.Client = netip.MustParseAddr("192.0.2.1")
			return q
		}
		s.rights.Report = func(error) { reported.Add(1) }
		s.rights.Answered = func(r *resolver.Record) {
			if r == record {
				recorded.Add(1)
			}
		}
		if tt.change != nil {
			tt.change(&s.rights)
		}
		status, lines := s.batch(t, tt.query, "text/plain", tt.body)
		s.rights = before
		all := strings.Join(lines, "\n")
		if status != http.StatusOK || len(lines) != strings.Count(tt.body, "\n")+1 || reported.Load() != tt.reported ||
			recorded.Load() != tt.recorded {
			t.Errorf("%s: %d %s; %d reported, %d of the registry", name, status, all, reported.Load(), recorded.Load())
		}
		for _, part := range tt.want {
			if !strings.Contains(all, part) {
				t.Errorf("%s: no %s in %s", name, part, all)
			}
		}
	}
}

// allowing allows a number of requests.
func allowing(most int32) func() bool {
	var count atomic.Int32
	return func() bool { return count.Add(1) <= most }
}

// A client has a quota of the concurrent batches, and its IPv6 network a multiple; a finished batch releases
// its slot.
func TestBatchesAtATime(t *testing.T) {
	s := start(t, func(c *answer.Config) { c.ClientQuotaPercent, c.NetworkFactor = 25, 2 }) // of 8
	inside, leave := make(chan struct{}), make(chan struct{})
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		inside <- struct{}{}
		<-leave
		return at(q), nil
	}
	from := func(client string) int {
		asker := *s
		asker.rights.WithClient = func(q resolver.Query) resolver.Query {
			q.Client = netip.MustParseAddr(client)
			return q
		}
		status, _ := asker.post(t, `"urn:x1:a"`)
		return status
	}
	var running []chan int
	run := func(client string) {
		status := make(chan int, 1)
		go func() { status <- from(client) }()
		select {
		case <-inside:
			running = append(running, status)
		case got := <-status:
			t.Fatalf("%s, beside %d others: %d", client, len(running), got)
		}
	}
	refused := func(clients ...string) {
		for _, client := range clients {
			if status := from(client); status != http.StatusServiceUnavailable {
				t.Errorf("%s, beside %d others: %d", client, len(running), status)
			}
		}
	}
	for _, client := range []string{
		"192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::1", "2001:db8::2",
		"2001:db8::2",
	} {
		run(client)
	}
	refused("192.0.2.1", "2001:db8::1", "2001:db8::3")
	run("192.0.2.2")
	run("192.0.2.3")
	refused("192.0.2.4") // no slot is left
	close(leave)
	for _, status := range running {
		if got := <-status; got != http.StatusOK {
			t.Errorf("%d", got)
		}
	}
	running = nil
	run("192.0.2.1")
	if got := <-running[0]; got != http.StatusOK {
		t.Errorf("after the others: %d", got)
	}
}

// A body that is not received in time fails, and so does its batch: RFC 9110 section 15.5.9.
func TestBatchThatDoesNotCome(t *testing.T) {
	var now atomic.Int64
	s := start(t, func(c *answer.Config) {
		c.ClientQuotaPercent, c.Now = 1, func() time.Time { return time.Unix(now.Load(), 0) }
	})
	s.rights.WithClient = func(q resolver.Query) resolver.Query {
		q.Client = netip.MustParseAddr("192.0.2.1")
		return q
	}
	for range 2 { // the only slot of the client is released
		body, client := io.Pipe()
		go func() {
			_, _ = io.WriteString(client, `"urn:x1:a" `)
			now.Add(31)
			_, _ = io.WriteString(client, `"urn:x1:b" `)
		}()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/resolve", body)
		if reply, err := s.Batch(t.Context(), batchOf(httptest.NewRecorder(), r), s.rights); written(nil, reply,
			err).StatusCode != http.StatusRequestTimeout {
			t.Errorf("%+v, %v", reply, err)
		}
		_ = body.Close()
	}
}
