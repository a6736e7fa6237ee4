package http1_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// The model: a connection is a sequence of requests, each with one response, in order, up to the first one
// that closes the connection. It does not depend on how and when the requests arrive. An incomplete request,
// or a drain, shortens the sequence.

// step is a request of the model, and its response: the status, and the content.
type step struct {
	name    string
	request string
	want    string
	closes  bool // the connection closes after it
	partial bool // its response is incomplete
}

const (
	hostLine    = " HTTP/1.1\r\nHost: h\r\n"
	expectLine  = "Expect: 100-continue\r\n"
	closeLine   = "Connection: close\r\n"
	chunkedLine = "Transfer-Encoding: chunked\r\n\r\n"
)

// steps are requests of all kinds. The target selects the behavior of modelHandler.
var steps = []step{
	{name: "answered by Begin", request: "GET /begin/a" + hostLine + "\r\n", want: "200 a"},
	{name: "answered by Continue", request: "GET /wait/b" + hostLine + "\r\n", want: "200 b"},
	{name: "HEAD", request: "HEAD /wait/c" + hostLine + "\r\n", want: "200 "},
	{name: "204", request: "GET /204/" + hostLine + "\r\n", want: "204 "},
	{name: "chunks and trailers", request: "GET /chunks/" + hostLine + "\r\n", want: "200 chunks [T: t]"},
	{name: "large", request: "GET /large/" + hostLine + "\r\n", want: "200 " + strings.Repeat("l", 20_000)},
	{name: "interim", request: "GET /interim/d" + hostLine + "\r\n", want: "200 d"},
	{name: "length", request: "POST /echo/" + hostLine + "Content-Length: 3\r\n\r\nabc", want: "200 abc"},
	{
		name: "chunked", request: "POST /echo/" + hostLine + chunkedLine + "2;x\r\nde\r\n0\r\nT: u\r\n\r\n",
		want: "200 de",
	},
	{name: "expect", request: "POST /echo/" + hostLine + expectLine + "Content-Length: 2\r\n\r\nfg", want: "200 fg"},
	{name: "an empty line behind", request: "POST /echo/" + hostLine + "Content-Length: 1\r\n\r\nh\r\n", want: "200 h"},
	{name: "unread by Begin", request: "POST /begin/i" + hostLine + "Content-Length: 3\r\n\r\nabc", want: "200 i"},
	{
		name: "unread by Continue", request: "POST /wait/j" + hostLine + chunkedLine + "2\r\nde\r\n0\r\n\r\n",
		want: "200 j",
	},
	{name: "HTTP/1.0", request: "GET /begin/k HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", want: "200 k"},

	{name: "the client closes", request: "GET /wait/l" + hostLine + closeLine + "\r\n", want: "200 l", closes: true},
	{name: "HTTP/1.0 that closes", request: "GET /chunks/ HTTP/1.0\r\n\r\n", want: "200 chunks", closes: true},
	{
		name:    "unread by one that closes",
		request: "POST /wait/m" + hostLine + closeLine + "Content-Length: 2\r\n\r\nab", want: "200 m", closes: true,
	},
	{name: "the handler closes", request: "GET /closes/" + hostLine + "\r\n", want: "200 ", closes: true},
	{name: "refused", request: "GET /begin/n" + hostLine + "A : b\r\n\r\n", want: "400 refused", closes: true},
	{
		name: "much that is unread", request: "POST /wait/o" + hostLine + "Content-Length: 999999\r\n\r\nabc",
		want: "200 o", closes: true,
	},
	{name: "taken over", request: "GET /tunnel/" + hostLine + "\r\n", want: "101 ", closes: true},
	{name: "shorter", request: "GET /shorter/" + hostLine + "\r\n", want: "200 ab", closes: true, partial: true},
	{name: "ended early", request: "GET /early/" + hostLine + "\r\n", want: "200 ab", closes: true, partial: true},
	{name: "aborted", request: "GET /abort/" + hostLine + "\r\n", closes: true, partial: true},
	{name: "panics", request: "GET /panic/" + hostLine + "\r\n", closes: true, partial: true},
}

// modelHandler behaves as the target says.
func modelHandler(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
	if content, ok := strings.CutPrefix(r.Target, "/begin/"); ok {
		write(w, content)
		return nil
	}
	r.Clone()
	return later(func() {
		what, content, _ := strings.Cut(r.Target[1:], "/")
		switch what {
		case "wait":
			time.Sleep(time.Millisecond) // of synctest
			write(w, content)
		case "204":
			w.WriteHeader(204, "", nil)
		case "chunks":
			w.SetTrailer(fieldsOf("T", "t"))
			write(w, "chu")
			_ = w.Flush()
			write(w, "nks")
		case "large":
			w.WriteHeader(200, "", fieldsOf("Content-Length", "20000"))
			write(w, strings.Repeat("l", 20_000))
		case "interim":
			w.WriteInterim(103, fieldsOf("Link", "</a>"))
			write(w, content)
		case "echo":
			if all, err := io.ReadAll(r.Body); err != nil {
				w.WriteHeader(400, "", nil)
			} else {
				_, _ = w.Write(all)
			}
		case "closes":
			w.WriteHeader(200, "", fieldsOf("Connection", "close"))
		case "tunnel":
			conn, read, err := w.Hijack()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\n%s", read)
			_, _ = io.Copy(struct{ io.Writer }{conn}, struct{ io.Reader }{conn})
			_ = conn.Close()
		case "shorter", "early":
			w.WriteHeader(200, "", fieldsOf("Content-Length", "3"))
			write(w, "ab")
			if what == "early" {
				w.Truncate()
			}
		case "abort":
			write(w, "a")
			w.Abort()
		case "panic":
			write(w, "a")
			panic("of the model")
		}
	})
}

// responsesOf parses the responses to some steps. It omits an incomplete last response.
func responsesOf(sent string, of []step) (got []string, err error) {
	in := bufio.NewReader(strings.NewReader(sent))
	for _, s := range of {
		method, _, _ := strings.Cut(s.request, " ")
		var response *http.Response
		for response == nil || response.StatusCode < 200 && response.StatusCode != http.StatusSwitchingProtocols {
			if _, err := in.Peek(1); errors.Is(err, io.EOF) {
				return got, nil
			}
			if response, err = http.ReadResponse(in, &http.Request{Method: method}); err != nil {
				return got, err
			}
		}
		if response.StatusCode == http.StatusSwitchingProtocols {
			return append(got, "101 "), nil
		}
		content, err := io.ReadAll(response.Body)
		text := fmt.Sprintf("%d %s", response.StatusCode, content)
		for name, values := range response.Trailer {
			text += fmt.Sprintf(" [%s: %s]", name, values[0])
		}
		if got = append(got, text); err != nil {
			if !s.partial {
				return got, err
			}
			return got, nil
		}
	}
	if rest, _ := io.ReadAll(in); len(rest) > 0 {
		return got, fmt.Errorf("%q behind the last response", rest)
	}
	return got, nil
}

// expected returns the responses of steps up to the one that closes the connection, and whether there is such a one.
func expected(of []step) (want []string, ends bool) {
	for _, s := range of {
		if s.want != "" {
			want = append(want, s.want)
		}
		if s.closes {
			return want, true
		}
	}
	return want, false
}

// complete returns the steps whose requests are complete in the first bytes that are sent.
func complete(of []step, sent int) []step {
	for i, s := range of {
		if sent -= len(s.request); sent < 0 {
			return of[:i]
		}
	}
	return of
}

// act is an event on a connection besides sent data.
type act int

const (
	actNothing act = iota
	actHalfClose
	actClose
	actDrain
)

// play sends steps in parts that end at the cuts, performs an act at one of them, and checks the responses.
func play(t *testing.T, of []step, each bool, cuts []int, at int, what act) {
	t.Helper()
	text := ""
	for _, s := range of {
		text += s.request
	}
	w := newWorld(modelHandler)
	w.config.ErrorDocument = func(*httpmessage.Incoming, int, string, bool) (int, string, []byte) {
		return 400, "text/plain", []byte("refused")
	}
	w.server.each = each
	w.serve()
	sent, acted := 0, false
	for _, cut := range append(slices.Clone(cuts), len(text)) {
		w.send(text[sent:cut])
		sent = cut
		synctest.Wait()
		if cut != at {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		acted = true
		switch what {
		case actHalfClose:
			_ = w.client.CloseWrite()
		case actClose:
			_ = w.client.Close()
		case actDrain:
			w.draining.Store(true)
			continue
		case actNothing:
			continue
		}
		break
	}
	_ = w.client.CloseWrite()
	if !waitFor(&w.served) {
		t.Errorf("%s, cuts %v: the server does not end", names(of), cuts)
		return
	}
	w.client.in.set(func(s *stream) { sent = len(s.data) })
	got, err := responsesOf(string(bytes.Clone(w.client.in.data)), of)
	want, ends := expected(of)
	if acted && what != actNothing { // the sequence may be shorter
		whole, _ := expected(complete(of, at))
		cutOff := what != actDrain && at < len(text) && (!ends || len(whole) != len(want))
		if cutOff && len(got) == len(whole)+1 && strings.HasPrefix(got[len(got)-1], "400") {
			got = got[:len(got)-1] // of the incomplete request
		}
		if what == actClose { // nothing reads the rest
			err, whole = nil, nil
		}
		if what == actDrain { // the response to a waiting request is the last one
			whole = whole[:min(len(whole), 1)]
		}
		if len(got) < len(whole) {
			t.Errorf("%s, act %d at %d: %d responses for %d requests", names(of), what, at, len(got), len(whole))
		}
		if len(got) <= len(want) {
			want = want[:len(got)]
		}
	}
	if !slices.Equal(got, want) || err != nil {
		t.Errorf("%s, each %t, cuts %v, act %d at %d: got %.300q, want %.300q: %v",
			names(of), each, cuts, what, at, got, want, err)
	}
	if w.server.waits != 0 || !w.server.closed {
		t.Errorf("%s: %d waits, closed %t", names(of), w.server.waits, w.server.closed)
	}
}

// stride is the number of bytes between two cuts of the model.
func stride() int {
	if testing.Short() {
		return 7
	}
	return 1
}

// waitFor waits for a server, up to an hour of synctest.
func waitFor(served interface{ Wait() }) bool {
	ended := make(chan struct{})
	go func() { served.Wait(); close(ended) }()
	select {
	case <-ended:
		return true
	case <-time.After(time.Hour):
		return false
	}
}

func names(of []step) string {
	all := make([]string, len(of))
	for i, s := range of {
		all[i] = s.name
	}
	return strings.Join(all, ", ")
}

// Two requests of any kinds in sequence, cut at each byte.
func TestModelPairs(t *testing.T) {
	for i, first := range steps {
		t.Run(first.name, func(t *testing.T) {
			for j, second := range steps {
				synctest.Test(t, func(t *testing.T) {
					of := []step{first, second}
					for cut := 0; cut <= len(first.request)+len(second.request); cut += stride() {
						play(t, of, (i+j+cut)%2 == 0, []int{cut}, -1, actNothing)
					}
				})
			}
		})
	}
}

// Two requests of any kinds, with a disconnect, or a drain of the server, at each byte.
func TestModelEnds(t *testing.T) {
	for i, first := range steps {
		t.Run(first.name, func(t *testing.T) {
			for j, second := range steps {
				synctest.Test(t, func(t *testing.T) {
					of := []step{first, second}
					for cut := 0; cut <= len(first.request)+len(second.request); cut += stride() {
						play(t, of, (i+j)%2 == 0, []int{cut}, cut, act(cut%3)+actHalfClose)
					}
				})
			}
		})
	}
}

// Sequences of requests that are cut at several bytes.
func TestModelSequences(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 44))
		var of []step
		length := 0
		for range 2 + random.IntN(8) {
			s := steps[random.IntN(len(steps))]
			if s.closes && random.IntN(4) > 0 {
				continue
			}
			of = append(of, s)
			length += len(s.request)
		}
		var cuts []int
		for range random.IntN(6) {
			cuts = append(cuts, random.IntN(length+1))
		}
		slices.Sort(cuts)
		at, what := -1, actNothing
		if len(cuts) > 0 && random.IntN(2) == 0 {
			at, what = cuts[random.IntN(len(cuts))], act(random.IntN(4))
		}
		synctest.Test(t, func(t *testing.T) { play(t, of, seed%2 == 0, cuts, at, what) })
	}
}
