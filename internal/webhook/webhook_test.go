package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/internal/webhook"
)

// cdn is a server that receives purge notifications.
type cdn struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	called func() // during each call
	calls  []int  // number of tags of each call
	tags   []string
	fields http.Header
}

func newCDN(t *testing.T) *cdn {
	t.Helper()
	c := &cdn{status: http.StatusOK, called: func() {}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var requested struct{ Tags []string }
		if err := json.NewDecoder(r.Body).Decode(&requested); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s, %v", r.Method, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.called()
		c.calls, c.fields = append(c.calls, len(requested.Tags)), r.Header
		if c.status == http.StatusOK {
			c.tags = append(c.tags, requested.Tags...)
		}
		if c.status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *cdn) answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *cdn) during(call func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = call
}

func (c *cdn) seen() (tags []string, calls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.tags)), len(c.calls)
}

// told records the callbacks of a sender.
type told struct {
	mu      sync.Mutex
	reports []string
	lost    int
	waits   []time.Duration
}

func (o *told) config(url string) webhook.Config {
	return webhook.Config{
		URL: url, AllTag: "all", Dial: new(net.Dialer).DialContext, Called: func(error) {},
		Field: "Cache-Tag", Separator: ",",
		Secret: func() (string, error) { return "the-secret", nil },
		Report: func(err error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.reports = append(o.reports, fmt.Sprint(err))
		},
		Lost: func(n int) { o.lost += n },
		After: func(d time.Duration) <-chan time.Time {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.waits = append(o.waits, d)
			return time.After(time.Millisecond)
		},
	}
}

// TestTagsAreSent checks that tags are sent in one batch, each once, with the secret.
func TestTagsAreSent(t *testing.T) {
	c, o := newCDN(t), new(told)
	s := webhook.New(o.config(c.URL + "/purge?key=hidden"))
	var want []string
	for i := range 70 {
		want = append(want, fmt.Sprintf("t%02d", i))
	}
	s.Add(want...)
	s.Add(want[0])
	s.Start()
	s.Start()
	testserver.Wait(t, "they are sent", func() bool { tags, _ := c.seen(); return slices.Equal(tags, want) })
	if !slices.Equal(c.calls, []int{30, 30, 10}) {
		t.Errorf("the calls have %v tags", c.calls)
	}
	if got := c.fields.Get("Authorization"); got != "Bearer the-secret" {
		t.Errorf("Authorization: %q", got)
	}
	if got := c.fields.Get("Cache-Tag"); len(strings.Split(got, ",")) != 10 {
		t.Errorf("Cache-Tag: %q", got)
	}
	s.Add("last")
	s.Close()
	if tags, _ := c.seen(); !slices.Contains(tags, "last") || o.lost > 0 {
		t.Errorf("at the end: %q, and %d are lost", tags, o.lost)
	}
}

// TestTagsAreGathered checks that tags wait for batchDelay, too, if they are added, perhaps again, during a call: until
// then a response generated before the change may be stored downstream.
func TestTagsAreGathered(t *testing.T) {
	for _, first := range []string{"a", "all"} {
		c, o := newCDN(t), new(told)
		s := webhook.New(o.config(c.URL))
		c.during(sync.OnceFunc(func() { s.Add("a", "b") }))
		s.Start()
		s.Add(first)
		testserver.Wait(t, "both calls are made", func() bool { _, calls := c.seen(); return calls == 2 })
		s.Close()
		if want := []time.Duration{250 * time.Millisecond, 250 * time.Millisecond}; !slices.Equal(o.waits, want) {
			t.Errorf("%s: it waits %v", first, o.waits)
		}
	}
}

// TestFailuresAreRepeated checks that a failing server is called again with increasing delays, and that no tag
// is lost.
func TestFailuresAreRepeated(t *testing.T) {
	for _, status := range []int{http.StatusInternalServerError, http.StatusForbidden, http.StatusFound} {
		c, o := newCDN(t), new(told)
		c.answer(status)
		s := webhook.New(o.config(c.URL + "/purge?key=hidden"))
		s.Start()
		s.Add("a")
		testserver.Wait(t, "it is called again", func() bool { _, calls := c.seen(); return calls > 9 })
		host := strings.TrimPrefix(c.URL, "http://")
		if got := s.Failures(); len(got) != 1 ||
			!strings.HasSuffix(got[0], fmt.Sprintf("%s: status %d", host, status)) {
			t.Errorf("%d: failures: %q", status, got)
		}
		s.Add("b")
		c.answer(http.StatusOK)
		testserver.Wait(t, "all is told",
			func() bool { tags, _ := c.seen(); return slices.Equal(tags, []string{"a", "b"}) })
		testserver.Wait(t, "it is well", func() bool { return s.Failures() == nil })
		s.Close()
		if len(o.reports) != 2 || strings.Contains(o.reports[0], "hidden") || o.reports[1] != "<nil>" {
			t.Errorf("%d: the reports are %q", status, o.reports)
		}
		if want := "[1s 2s 4s 8s 16s 32s 1m0s 1m0s]"; fmt.Sprint(o.waits[1:9]) != want {
			t.Errorf("it waits %v", o.waits)
		}
	}
}

// TestOverflow checks that too many pending tags are replaced by the tag for all content.
func TestOverflow(t *testing.T) {
	c, o := newCDN(t), new(told)
	s := webhook.New(o.config(c.URL))
	for i := range 10_001 {
		s.Add(fmt.Sprint(i))
	}
	s.Add("later")
	if n := s.Pending(); n != 1 {
		t.Errorf("%d are pending", n)
	}
	s.Close() // also without Start
	if tags, _ := c.seen(); !slices.Equal(tags, []string{"all"}) {
		t.Errorf("it is told %q", tags)
	}
}

// TestLost checks that tags which cannot be sent at the end are counted, and that errors omit the URL, which
// may contain a secret.
func TestLost(t *testing.T) {
	c, o := newCDN(t), new(told)
	c.Close()
	settings := o.config(c.URL + "/purge?key=hidden")
	s := webhook.New(settings)
	s.Start()
	for i := range 40 {
		s.Add(fmt.Sprint(i))
	}
	testserver.Wait(t, "it fails", func() bool { return s.Failures() != nil })
	s.Close()
	if o.lost != 40 || strings.Contains(o.reports[0], "hidden") {
		t.Errorf("%d are lost: %q", o.lost, o.reports)
	}
	settings.Secret = func() (string, error) { return "", errors.New("no such file") }
	s = webhook.New(settings)
	s.Start()
	s.Add("a")
	testserver.Wait(t, "the secret is missing", func() bool {
		return slices.ContainsFunc(s.Failures(), func(f string) bool { return strings.HasSuffix(f, "no such file") })
	})
	s.Close()
	if o.lost != 41 {
		t.Errorf("%d are lost", o.lost)
	}
}
