package proxy_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
)

// packet is what a client sends at once. The next one is sent when the server has read and answered all so far, and
// after a time.
type packet struct {
	octets string
	then   time.Duration
}

// ending is what a client does behind its last packet.
type ending uint8

const (
	halfCloses ending = iota // and reads to the end
	leaves                   // without reading what may yet come
	waits                    // for longer than a server does
	endings
	stays // until the server ends, for the last dialog
)

// dialog is what a client says on one connection.
type dialog struct {
	packets []packet
	ending  ending
	parts   []bool // what is received behind a packet belongs to the next one; nil is none
}

// heard is what a client sees of a dialog.
type heard struct {
	responses []string // octets, behind each packet and the ending
	ended     string   // how the connection ended
	lasted    time.Duration
	events    []string // of requests, and all that is logged and counted of them
	log       string
	cuts      []int // behind the requests that the fast path has answered or served, in octets that were sent
	answered  int   // of these, from the caches
}

// transcript is all that can be seen of some dialogs with a server.
type transcript struct {
	heard   []*heard
	answers cache.Stats
	web     httpcache.Counts
}

// play holds dialogs with a server, one after another, with the fast path or without, and returns all that can be seen
// of them.
func play(t *testing.T, filled *stores, v *variant, dialogs []dialog, isFast bool) *transcript {
	t.Helper()
	filled.once.Do(func() { filled.fill(t) })
	var all transcript
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		stores := filled.clone()
		w := newWorld(t, stores, v, time.Now)
		defer w.close()
		listener := newStreamListener(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})
		stop := sync.OnceFunc(w.serve(t, listener, v, isFast))
		for _, d := range dialogs {
			if v.forgets {
				stores.forget()
			}
			h := new(heard)
			h.listen(t, v, d, listener, w.fast, stop)
			h.events, h.log = w.take()
			h.cuts, h.answered = w.fast.cuts, w.fast.answered
			w.fast.cuts, w.fast.answered = nil, 0
			all.heard = append(all.heard, h)
		}
		stop()
		last := new(heard)
		last.events, last.log = w.take()
		all.heard = append(all.heard, last)
		all.answers, all.web = w.answers.Stats(), w.web.Counts()
	})
	return &all
}

// lockedBuffer is a buffer that one goroutine writes to and another one empties.
type lockedBuffer struct {
	mu     sync.Mutex
	octets []byte
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.octets = append(b.octets, p...)
	return len(p), nil
}

func (b *lockedBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := string(b.octets)
	b.octets = b.octets[:0]
	return text
}

// settled is longer than any request takes: what is said of one whose client leaves meanwhile is a matter of luck.
const settled = 157 * time.Millisecond

// listen is the part of the client.
func (h *heard) listen(t *testing.T, v *variant, d dialog, listener *streamListener, fast *watchedPath, stop func()) {
	t.Helper()
	remote, ok := v.client, v.client.IsValid()
	if !ok {
		remote = netip.MustParseAddrPort("127.0.0.1:50000")
	}
	atClient, atServer := newStreamConns(net.TCPAddrFromAddrPort(remote), listener.addr)
	listener.conns <- atServer
	fast.read = func() int { return atServer.in.count() - len(v.prefix) }
	began := time.Now()
	var conn interface {
		net.Conn
		CloseWrite() error
	} = atClient
	_, _ = io.WriteString(atClient, v.prefix)
	if v.secure {
		secure := tls.Client(atClient, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		if err := secure.Handshake(); err != nil {
			t.Fatal(err)
		}
		conn = secure
	}
	received := new(lockedBuffer)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, err := io.Copy(received, conn)
		switch {
		case err == nil:
			h.ended = "end"
		case errors.Is(err, net.ErrClosed):
			h.ended = "left"
		default:
			h.ended = err.Error()
		}
		h.lasted = time.Since(began)
	}()
	read := func() {
		synctest.Wait()
		h.responses = append(h.responses, received.take())
	}
	// Time is that of synctest: no sleep takes any.
	for i, p := range d.packets {
		_, _ = io.WriteString(conn, p.octets) // it fails where the server has closed the connection
		if synctest.Wait(); len(d.parts) == 0 || !d.parts[i] {
			read()
		}
		time.Sleep(p.then)
	}
	time.Sleep(settled)
	switch d.ending {
	case halfCloses:
		_ = conn.CloseWrite()
		read()
	case waits:
		time.Sleep(time.Minute)
		read()
	case stays:
		stop()
		read()
	case leaves, endings:
	}
	_ = conn.Close()
	<-over
	select {
	case <-atServer.closed:
	case <-time.After(time.Hour):
		t.Error("the server has not closed the connection")
	}
	synctest.Wait()
	h.responses = append(h.responses, received.take())
}
