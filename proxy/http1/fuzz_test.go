package http1_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http1"
)

// Whatever a client sends, in one part or in two, the server terminates, and its output consists of the same
// valid responses.
func FuzzServe(f *testing.F) {
	for _, s := range steps {
		f.Add([]byte(s.request+get), uint16(len(s.request)))
	}
	f.Fuzz(func(t *testing.T, sent []byte, cut uint16) {
		whole := playBytes(t, sent)
		at := min(int(cut), len(sent))
		if parts := playBytes(t, sent[:at], sent[at:]); !bytes.Equal(whole, parts) {
			t.Errorf("in one part %q, in two %q", whole, parts)
		}
	})
}

// playBytes sends parts, and returns the output without Date.
func playBytes(t *testing.T, parts ...[]byte) []byte {
	t.Helper()
	w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
		begun := len(r.Target)%2 == 0
		head := func() {
			w.WriteHeader(http.StatusOK, "", fieldsOf("Date", "now", "Host", r.Host, "Method", r.Method))
			write(w, r.Target)
		}
		if begun {
			head()
			return nil
		}
		r.Clone()
		return later(func() {
			if r.Body != nil {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					return
				}
			}
			head()
		})
	})
	w.config.ErrorDocument = func(*httpmessage.Incoming, int, string, bool) (int, string, []byte) {
		return http.StatusBadRequest, "text/plain", nil
	}
	for _, part := range parts {
		w.send(string(part))
	}
	_ = w.client.CloseWrite()
	server := w.server
	server.in.most = len(parts[0])
	http1.NewServer(w.config).Serve(server)
	for resume := server.resume; resume != nil; resume = server.resume {
		server.resume = nil
		resume(server.await())
	}
	if len(w.panicked) > 0 {
		t.Fatalf("panicked: %v", w.panicked)
	}
	out := w.client.in.data
	for in := bufio.NewReader(bytes.NewReader(out)); ; {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			break
		}
		method := http.MethodGet
		response, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		if response.Header.Get("Method") == http.MethodHead {
			continue // the parser does not know it
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
	}
	var kept []byte
	for line := range bytes.SplitSeq(out, []byte("\r\n")) {
		if !bytes.HasPrefix(line, []byte("Date: ")) {
			kept = append(append(kept, line...), '\n')
		}
	}
	return kept
}
