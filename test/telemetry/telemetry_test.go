package telemetry

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
)

// spans is an OpenTelemetry collector.
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

// sent returns the received spans.
func (s *spans) sent() []*trace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

const (
	traceID     = "0af7651916cd43dd8448eb211c80319c"
	traceparent = "00-" + traceID + "-b7ad6b7169203331-01"
)

// TestTelemetry checks that the span of a request is a child of that of its client, that each step is a child
// of it, and that outgoing requests carry its traceparent (W3C Trace Context).
func TestTelemetry(t *testing.T) {
	var got spans
	receiver := httptest.NewServer(&got)
	defer receiver.Close()
	var mu sync.Mutex
	var requested []string
	resolution := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requested = append(requested, r.Header.Get("Traceparent"))
		http.Redirect(w, r, "ftp://user:secret@a.example/", http.StatusSeeOther)
	}))
	defer resolution.Close()
	d := start(t, configure(t, receiver.URL, "access: {allow_destinations: [127.0.0.0/8]}\n"+
		"namespaces: [{nid: book, thttp: ['"+resolution.URL+"'], schemes: [ftp]}]\n"))
	d.get(t, "/urn:book:first", "") // the first of a thousand
	d.get(t, "/urn:book:second", "")
	d.get(t, "/urn:book:third", traceparent)
	d.stop(t) // sends the remaining spans
	mu.Lock()
	defer mu.Unlock()
	if len(requested) != 3 || !strings.HasPrefix(requested[2], "00-"+traceID+"-") || requested[2] == traceparent ||
		requested[0] == "" || requested[1] != "" {
		t.Errorf("the server was asked with %q", requested)
	}
	var names []string
	var root *trace.Span
	for _, s := range got.sent() {
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

// TestConfigCheck checks that the check of a configuration sends a span, to verify that the collector accepts
// those of urnd.
func TestConfigCheck(t *testing.T) {
	var got spans
	receiver := httptest.NewServer(&got)
	defer receiver.Close()
	out, _ := urnd("config", "check", "--dial", configure(t, receiver.URL, "")).CombinedOutput() // DNS does not respond
	if sent := got.sent(); len(sent) != 1 || sent[0].Name != "config check" ||
		!strings.Contains(string(out), "telemetry.endpoint: "+receiver.URL+": ok") {
		t.Errorf("the collector has %v\n%s", sent, out)
	}
}
