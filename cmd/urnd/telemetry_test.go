package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/urnd/urnd/config"
)

// spans is a collector of OpenTelemetry.
type spans struct {
	mu  sync.Mutex
	all []*trace.Span
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var sent collector.ExportTraceServiceRequest
	if r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			s.all = append(s.all, scope.Spans...)
		}
	}
}

const (
	traceID     = "0af7651916cd43dd8448eb211c80319c"
	traceparent = "00-" + traceID + "-b7ad6b7169203331-01"
)

// The span of a request is a child of that of its client, each step is a child of it, and
// outgoing requests carry its traceparent (W3C Trace Context).
func TestTelemetry(t *testing.T) {
	var got spans
	receiver := httptest.NewServer(&got)
	defer receiver.Close()
	var asked []string
	resolution := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Traceparent"))
		http.Redirect(w, r, "ftp://user:secret@a.example/", http.StatusSeeOther)
	}))
	defer resolution.Close()
	t.Run("daemon", func(t *testing.T) { // which sends the rest when it ends
		d := startService(t, "127.0.0.1:9", func(c *config.Config) {
			openLoopback(c)
			c.Telemetry = config.Telemetry{Endpoint: receiver.URL, Sample: 1000}
			c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{resolution.URL}, Schemes: []string{"ftp"}}}
		})
		d.getTraced(t, "/urn:book:first", "") // the first one of a thousand
		d.getTraced(t, "/urn:book:second", "")
		d.getTraced(t, "/urn:book:third", traceparent)
	})
	if len(asked) != 3 || !strings.HasPrefix(asked[2], "00-"+traceID+"-") || asked[2] == traceparent || asked[0] == "" || asked[1] != "" {
		t.Errorf("the server was asked with %q", asked)
	}
	var names []string
	var root *trace.Span
	for _, s := range got.all {
		if hex.EncodeToString(s.TraceId) != traceID {
			continue
		}
		names = append(names, s.Name)
		if s.Name == "path I2L" {
			root = s
		}
		if strings.Contains(s.String(), "secret") {
			t.Errorf("a password is sent: %s", s)
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s ends before it begins", s.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"cache", "canonical", "path I2L", "thttp", "thttp"}; !slices.Equal(names, want) {
		t.Errorf("spans %q, want %q", names, want)
	}
	if root == nil || hex.EncodeToString(root.ParentSpanId) != "b7ad6b7169203331" {
		t.Errorf("the span of the request is %v", root)
	}
}

// The traceparent of a client does not reach resolution servers: their answers are for all.
func TestTraceparentStaysHere(t *testing.T) {
	asked := "not asked"
	resolution := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("Traceparent")
		http.Redirect(w, r, "http://a.example/", http.StatusSeeOther)
	}))
	defer resolution.Close()
	d := startService(t, "127.0.0.1:9", func(c *config.Config) {
		openLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{resolution.URL}, Schemes: []string{"ftp"}}}
	})
	if d.getTraced(t, "/urn:book:1", traceparent); asked != "" {
		t.Errorf("the server was asked with %q", asked)
	}
}

// getTraced sends one request with a traceparent, "" for none.
func (d *testService) getTraced(t *testing.T, path, traceparent string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, d.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if traceparent != "" {
		request.Header.Set("Traceparent", traceparent)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusFound {
		t.Fatalf("%s: %v, %v", path, response, err)
	}
	response.Body.Close()
}
