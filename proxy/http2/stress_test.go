package http2_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

// Many clients concurrently request all kinds of responses, and some disconnect; each gets its own responses.
func TestManyClients(t *testing.T) {
	t.Parallel()
	size := func(r *httpmessage.Incoming) int { n, _ := strconv.Atoi(r.Target[1:]); return n }
	answer := func(r *httpmessage.Incoming, w writer) {
		n := size(r)
		if n%2 == 0 {
			w.WriteHeader(200, "", httpmessage.NewFields("Content-Length", strconv.Itoa(n)))
		}
		var sent int
		if r.Body != nil {
			copied, err := io.Copy(io.Discard, r.Body)
			if err != nil || copied != int64(n) {
				w.Abort()
				return
			}
		}
		for sent < n {
			part := make([]byte, min(n-sent, 1+n/3))
			for i := range part {
				part[i] = byte(n)
			}
			if _, err := w.Write(part); err != nil {
				return
			}
			sent += len(part)
		}
	}
	address := listenTCP(t, handler{begin: func(r *httpmessage.Incoming, w writer) bool {
		if r.Body != nil || int64(size(r)) > w.Available() {
			return false
		}
		answer(r, w)
		return true
	}, next: answer}, func(c *http2.Config) { c.MaxConcurrentStreams = 20 })
	var all sync.WaitGroup
	for client := range 8 {
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		defer transport.CloseIdleConnections()
		for worker := range 8 {
			all.Go(func() { ask(t, transport, address, rand.New(rand.NewPCG(uint64(client), uint64(worker)))) })
		}
	}
	all.Wait()
}

// ask sends requests, and cancels some of them.
func ask(t *testing.T, transport *http.Transport, address string, random *rand.Rand) {
	for range 60 {
		n := random.IntN(1 << random.IntN(20))
		ctx, cancel := context.WithCancel(t.Context())
		var body io.Reader
		if random.IntN(3) == 0 {
			body = io.LimitReader(zeros{}, int64(n))
		}
		leaves := random.IntN(4) == 0
		if leaves {
			time.AfterFunc(time.Duration(random.IntN(1000))*time.Microsecond, cancel)
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://%s/%d", address, n), body)
		if err != nil {
			t.Error(err)
		}
		response, err := transport.RoundTrip(r)
		if err == nil {
			var got []byte
			got, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
			for _, b := range got {
				if b != byte(n) {
					t.Error("content of another response")
					break
				}
			}
			if err == nil && len(got) != n {
				t.Errorf("%d bytes of %d", len(got), n)
			}
		}
		if err != nil && !leaves {
			t.Errorf("%d bytes: %v", n, err)
		}
		cancel()
	}
}
