package certificate_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/certificate"
)

// refuse returns an error response of an authority (RFC 8555 section 6.7).
func refuse(r *http.Request, status int, kind, detail string) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{
		"type": "urn:ietf:params:acme:error:" + kind, "status": status,
		"detail": detail,
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: strconv.Itoa(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/problem+json"}}, Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

// newOrder is the path of orders in Pebble.
const newOrder = "/order-plz"

// limiting is a transport to an authority that answers orders with a rate limit error.
type limiting struct {
	http.RoundTripper
	after  string // Retry-After; "" for none
	kind   string // media type of the response body
	status int
	orders atomic.Int64
	open   atomic.Bool // forwards orders
}

func (l *limiting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != newOrder {
		return l.RoundTripper.RoundTrip(r)
	}
	l.orders.Add(1)
	if l.open.Load() {
		return l.RoundTripper.RoundTrip(r)
	}
	response, err := refuse(r, l.status, "rateLimited", "too many orders")
	if err != nil {
		return nil, err
	}
	response.Header.Set("Content-Type", l.kind)
	if l.after != "" {
		response.Header.Set("Retry-After", l.after)
	}
	return response, nil
}

// TestRateLimit: after a rate limit error (RFC 8555 section 6.6) the authority is not contacted until
// Retry-After, at least for an hour. Issued certificates stay in use.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	const problem = "application/problem+json"
	r := newRig(t, nil)
	begin := time.Now().Truncate(time.Second) // HTTP dates have a resolution of seconds
	for i, tt := range []struct {
		name, after, kind string
		status            int
		pause             time.Duration
	}{
		{"an hour without Retry-After", "", problem, http.StatusTooManyRequests, time.Hour},
		{"an hour at least", "5", problem, http.StatusTooManyRequests, time.Hour},
		{"seconds", "7200", problem, http.StatusTooManyRequests, 2 * time.Hour},
		{
			"a date", begin.Add(3 * time.Hour).UTC().Format(http.TimeFormat), problem, http.StatusTooManyRequests,
			3 * time.Hour,
		},
		{"a week at most", "99999999999999999999", problem, http.StatusTooManyRequests, 7 * 24 * time.Hour},
		{"invalid", "soon", problem, http.StatusTooManyRequests, time.Hour},
		{"no problem document", "7200", "text/html", http.StatusTooManyRequests, 2 * time.Hour},
		{"another status", "", problem, http.StatusForbidden, time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.storage = certificate.FileStorage(t.TempDir())
			limited := fmt.Sprintf("limited%d.test", i)
			var ahead atomic.Int64
			front := &limiting{after: tt.after, kind: tt.kind, status: tt.status}
			front.open.Store(true)
			manager := r.start(func(c *certificate.ManagerConfig) {
				c.Now = func() time.Time { return begin.Add(time.Duration(ahead.Load())) }
				front.RoundTripper = c.Client.Transport
				c.Client.Transport = front
			}, "a.test")
			defer manager.Close()
			r.awaitNames("a.test")
			front.open.Store(false)

			// order requests an additional name, and returns why there is no certificate for it.
			order := func(name string) string {
				t.Helper()
				manager.Manage([]string{"a.test", name})
				testserver.Wait(t, "it is said what has failed", func() bool { return len(manager.Failures()) > 0 })
				return manager.Failures()[0]
			}
			if reported := order(limited); !strings.Contains(reported, "too many orders") {
				t.Errorf("it is said: %q", reported)
			}
			testserver.Wait(t, "the log says until when", func() bool {
				return r.log.count("certificate order failed", limited, "retry_in="+tt.pause.String()) == 1
			})
			front.open.Store(true)
			ahead.Store(int64(tt.pause - time.Second))
			if reported := order("c.test"); !strings.Contains(reported, "retrying in 1s") {
				t.Errorf("within the pause it is said: %q", reported)
			}
			r.awaitNames("a.test")
			if got := front.orders.Load(); got != 2 {
				t.Errorf("the authority was asked %d times", got)
			}
			ahead.Store(int64(tt.pause))
			manager.Manage([]string{"a.test", "d.test"})
			r.awaitNames("a.test", "d.test")
		})
	}
}

// replacing is a transport to an authority that rejects orders with "replaces".
type replacing struct {
	http.RoundTripper
	status          int
	kind            string
	refused, passed atomic.Int64
}

func (p *replacing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != newOrder {
		return p.RoundTripper.RoundTrip(r)
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	var signed struct{ Payload string }
	if err := json.NewDecoder(body).Decode(&signed); err != nil {
		return nil, err
	}
	order, err := base64.RawURLEncoding.DecodeString(signed.Payload)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(order, []byte(`"replaces"`)) {
		p.passed.Add(1)
		return p.RoundTripper.RoundTrip(r)
	}
	p.refused.Add(1)
	return refuse(r, p.status, p.kind, "not what it replaces")
}

// TestReplaces: an authority rejects an order that replaces a certificate which was already replaced, is
// unknown, or belongs to another account, such as after the loss of the account (RFC 9773 section 5). The
// certificate is then renewed without "replaces".
func TestReplaces(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for i, front := range []*replacing{
		{status: http.StatusConflict, kind: "alreadyReplaced"},
		{status: http.StatusConflict, kind: "malformed"},
		{status: http.StatusForbidden, kind: "unauthorized"},
		{status: http.StatusNotFound, kind: "malformed"},
	} {
		name := fmt.Sprintf("replaced%d.test", i)
		r.start(nil, name)
		r.awaitNames(name)
		r.current().Close()
		r.replace(name, -2*time.Hour, time.Minute)
		manager := r.start(func(c *certificate.ManagerConfig) {
			front.RoundTripper = c.Client.Transport
			c.Client.Transport = front
		}, name)
		testserver.Wait(t, "it is renewed, or that has failed", func() bool {
			leaves := r.set.Leaves()
			return len(manager.Failures()) > 0 || len(leaves) == 1 && time.Until(leaves[0].NotAfter) > time.Hour
		})
		manager.Close()
		if refused, passed := front.refused.Load(), front.passed.Load(); refused != 1 || passed != 1 {
			t.Errorf("%d %s: %d orders were refused, and %d passed on: %q", front.status, front.kind, refused, passed,
				manager.Failures())
		}
	}
}
