package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// TestBodyOverHTTP sends a body over TCP and by net/http, partly after some of it was read.
func TestBodyOverHTTP(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	whole := body(1, 3*sliceSize+5)
	o := mustPut(t, s.Store, "k", "", whole)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r, err := o.Open(0, -1)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		w.Header().Set("Content-Length", fmt.Sprint(o.Size()))
		if _, err := io.CopyN(w, r, 1000); err != nil {
			t.Error(err)
		}
		if _, err := io.Copy(w, r); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for range 3 {
		res, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

// Many goroutines perform all operations concurrently on the same keys.
func TestConcurrently(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s := newStage(t, 16*mebibyte)
	s.run(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 150 {
				everything(t, s)
			}
		})
	}
	wg.Wait()
	err := s.Each(func(key string, _ []byte) {
		if err := s.removeKey(key); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if stats := s.Stats(); stats.Objects != 0 || stats.Bytes != 0 || stats.Corrupt != 0 || stats.Failures != 0 ||
		len(s.index.leftChecked()) != 0 {
		t.Errorf("%+v, %d files\n%s", stats, len(s.paths(t)), s.log)
	}
}

// leftChecked returns the objects with records of partly verified bodies.
func (x *index) leftChecked() (left []ref) {
	for i := range x.shards {
		for r := range x.shards[i].checked {
			left = append(left, r)
		}
	}
	return left
}

func everything(t *testing.T, s *stage) {
	seed := rand.Uint64N(20)
	size := []int{0, 100, 5000, sliceSize + 7}[seed%4]
	key := key(int(seed))
	switch rand.IntN(6) {
	case 0:
		if err := s.removeKey(key); err != nil {
			t.Error(err)
		}
	case 1:
		if _, err := put(s.Store, key, []byte("head"), body(seed, size)); err != nil && !errors.Is(err, ErrFull) {
			t.Error(err)
		}
	case 2:
		for _, o := range s.Get(key) {
			if _, err := s.Replace(o, make([]byte, rand.IntN(5000))); err != nil && !errors.Is(err, ErrGone) &&
				!errors.Is(err, ErrFull) {
				t.Error(err)
			}
		}
	default:
		for _, o := range s.Get(key) {
			got, err := read(o, 0, -1)
			if err != nil && !errors.Is(err, ErrGone) || err == nil && !bytes.Equal(got, body(seed, size)) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
	}
}
