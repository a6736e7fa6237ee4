package wais_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	ber "github.com/go-asn1-ber/asn1-ber"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/wais"
	"github.com/urnd/urnd/uri"
)

// peer is a server for each connection of a gateway.
type peer struct {
	play    func(net.Conn)
	playing sync.WaitGroup
}

func (p *peer) dial(context.Context, string, string, func(netip.AddrPort) error) (net.Conn, error) {
	client, server := net.Pipe()
	p.playing.Go(func() {
		defer server.Close()
		p.play(server)
	})
	return client, nil
}

// fetch returns the body of a document once the server has ended.
func (p *peer) fetch(t *testing.T, u string) (body []byte, err error) {
	t.Helper()
	parsed, err := uri.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	defer p.playing.Wait()
	gateway := wais.New(wais.Config{
		Dial: p.dial, Limits: scheme.Limits{Timeout: testserver.Timeout, Entries: 1000, Bytes: 1 << 16, Line: 4096},
		Records: 10,
	})
	resource, err := gateway.Fetch(t.Context(), scheme.Request{
		Request: httpmessage.Request{Method: http.MethodGet, URI: parsed, Fields: httpmessage.Fields{}},
	})
	if err != nil {
		return nil, err
	}
	defer resource.Body.Close()
	return io.ReadAll(resource.Body)
}

// answer responds to requests until the client closes the connection, or sends data that cannot be decoded,
// which is the error.
func answer(conn net.Conn, to func(request *ber.Packet) string) error {
	in := bufio.NewReader(conn)
	for _, end := in.Peek(1); end == nil; _, end = in.Peek(1) {
		request, err := ber.ReadPacket(in)
		if err != nil {
			return err
		}
		_, _ = io.WriteString(conn, to(request)) // the next iteration detects a closed connection
	}
	return nil
}

// elementBytes returns the content of a possibly constructed element (X.690 section 8.7.3).
func elementBytes(p *ber.Packet) []byte {
	if p.TagType == ber.TypePrimitive {
		return p.Data.Bytes()
	}
	var all []byte
	for _, part := range p.Children {
		all = append(all, elementBytes(part)...)
	}
	return all
}

// FuzzElements checks that the content of a picture in constructed encodings, in any form of BER, equals that
// decoded by a library.
func FuzzElements(f *testing.F) {
	for _, s := range []string{
		"\x04\x01a\x04\x01b", "\x24\x80\x04\x01a\x04\x01b\x00\x00", "\x04\x81\x01a\x24\x84\x00\x00\x00\x03\x04\x01b",
		"\x9f\x81\x48\x01a\x80\x00", "\xbf\x81\x48\x80\x30\x80\x00\x00\x00\x00",
		strings.Repeat("\x30\x80", 30) + "\x04\x01a" + strings.Repeat("\x00\x00", 30), "\xb7\x03\x02\x01\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		picture := "\xa1\x80" + string(b) + "\x00\x00" // octet-aligned
		rest := strings.NewReader(picture)
		packet, err := ber.ReadPacket(rest)
		if err != nil || rest.Len() > 0 {
			return // the library finds no elements, or trailing data
		}
		var p peer
		p.play = func(conn net.Conn) {
			_ = answer(conn, func(request *ber.Packet) string {
				switch request.Tag {
				case 20:
					return string(initResponse(true).Bytes())
				case 22:
					return string(searchResponse(1).Bytes())
				}
				return presentHead + "\x30\x80\xa1\x80\xa1\x80\x28\x80" + string(objectID(peerGIF).Bytes()) + picture +
					recordTail + presentTail
			})
		}
		got, err := p.fetch(t, "wais://a.example/d/gif/1%3Aa")
		if errors.Is(err, scheme.ErrInvalidResponse) {
			return // nested too deeply, or too long
		}
		if want := elementBytes(packet); err != nil || string(got) != string(want) {
			t.Fatalf("%x are %x, and %x to the library: %v", b, got, want, err)
		}
	})
}

// FuzzSearch checks that all requests of a search can be decoded by a library.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{
		"a b", `"a b" c`, "@and @attr 1=4 a b", "@or a", `"`, "@attr 1= x",
		strings.Repeat("@and a ", 50),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u := "wais://a.example/d?" + url.PathEscape(s)
		if parsed, err := uri.Parse(u); err != nil || parsed.Check() != nil {
			return
		}
		var p peer
		p.play = func(conn net.Conn) {
			err := answer(conn, func(request *ber.Packet) string {
				if request.Tag == 20 {
					return string(initResponse(true).Bytes())
				}
				return string(searchResponse(0).Bytes())
			})
			if err != nil {
				t.Errorf("%q: %v", s, err)
			}
		}
		_, _ = p.fetch(t, u) // invalid searches are rejected
	})
}
