package adversary

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// connectionsOfClients returns attacks by the use of HTTP/1 connections.
func connectionsOfClients(s *stage) []payload {
	held := slices.Concat(s.unreadConnections(), s.connectionStates(), s.otherProtocols())
	return slices.Concat(inFamily("connections: held", held), s.connectionCuts(), s.pipelines(), s.tunnels())
}

// connectionStates close connections, or send nothing more, in each state of a connection (RFC 9112 section 9).
func (s *stage) connectionStates() []payload {
	ways := append(cuts(), cut{"silence", func(net.Conn) {}, true})
	var payloads []payload
	for _, state := range []struct {
		name, sends string
		answers     int // number of responses read before
	}{
		{"before a request", "", 0},
		{"in an empty line", "\r", 0},
		{"in a request line", "GET /sma", 0},
		{"in a header", forSite("GET /small", "X-Evil: "), 0},
		{"in a header of 60 kB", forSite("GET /small", "X-Evil: "+strings.Repeat("a", 60_000)), 0},
		{"before a body", forSite("POST /small", "Content-Length: 10\r\n\r\n"), 0},
		{
			"before a body that waits to be asked for",
			forSite("POST /hold", "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"), 0,
		},
		{"in a body", forSite("POST /small", "Content-Length: 10\r\n\r\n12345"), 0},
		{"in a body that is refused", forSite("POST /small", "Content-Length: 1000000000000\r\n\r\n12345"), 0},
		{"in the size of a chunk", forSite("POST /small", "Transfer-Encoding: chunked\r\n\r\n1"), 0},
		{"in a chunk", forSite("POST /small", "Transfer-Encoding: chunked\r\n\r\nff\r\n12345"), 0},
		{"behind a chunk", forSite("POST /small", "Transfer-Encoding: chunked\r\n\r\n5\r\n12345"), 0},
		{"in a trailer", forSite("POST /small", "Transfer-Encoding: chunked\r\n\r\n0\r\nX-Evil: "), 0},
		{"while the origin works", forSite("GET /hold", "\r\n"), 0},
		{
			"while the origin works, with another request",
			forSite("GET /hold", "\r\n") + forSite("GET /small", "\r\n"), 0,
		},
		{"while a name is resolved", "GET /urn:held:none HTTP/1.1\r\nHost: a\r\n\r\n", 0},
		{"in a response", forSite("GET /uncached", "\r\n"), 0},
		{"behind a response", forSite("GET /small", "\r\n"), 1},
		{"in the second request", forSite("GET /small", "\r\n") + "GET /sma", 1},
		{
			"in a request that switches protocols",
			forSite("GET /hold", "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nx"), 0,
		},
		{
			"in a tunnel",
			"CONNECT " + s.origin.address + " HTTP/1.1\r\nHost: a\r\n\r\n" + forSite("GET /hold", "\r\n"), 0,
		},
	} {
		for _, way := range ways {
			if way.name == "silence" && state.name == "in a tunnel" {
				continue // limits.tunnel_idle has no short limit
			}
			name := "16 times " + way.name + " " + state.name
			payloads = append(payloads, s.attacked(name, "RFC 9112 section 9", func(ctx context.Context) error {
				failed := make(chan error, 16)
				many(cap(failed), func(int) { failed <- s.leaves(ctx, state.sends, state.answers, way) })
				close(failed)
				for err := range failed {
					if err != nil {
						return err
					}
				}
				return nil
			}))
		}
	}
	return payloads
}

// leaves begins a dialogue, reads some responses, and ends the client's side.
func (s *stage) leaves(ctx context.Context, sends string, answers int, way cut) error {
	conn, err := connect(ctx, s.service, friend)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Each requests a different page, because requests for the same page would be collapsed.
	_, _ = io.WriteString(conn, strings.ReplaceAll(sends, "/hold", "/hold?"+s.id()))
	reader := bufio.NewReader(conn)
	for range answers {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return err
		}
	}
	return way.apply(conn)
}

// dialogueOfHTTP1 contains each kind of request.
func dialogueOfHTTP1() (text string, statuses []int) {
	return "\r\n" + cached + forSite("GET /small", "\r\n") + forSite("POST /p/cut", "Content-Length: 3\r\n\r\nabc") +
		forSite("POST /p/cut", "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n") +
		forSite("HEAD /small", "Connection: close\r\n\r\n"), []int{302, 200, 200, 200, 200}
}

// connectionCuts end a short HTTP/1 dialogue at each of its bytes, in clear text and with TLS.
func (s *stage) connectionCuts() []payload {
	text, statuses := dialogueOfHTTP1()
	var payloads []payload
	for _, way := range []route{site1, siteTLS} {
		dial := func(ctx context.Context) (net.Conn, error) { return s.dialBy(ctx, way) }
		step := 1
		if way.tls { // handshakes take time
			step = 7
		}
		for _, end := range cuts() {
			name := end.name + " at each byte, " + way.name
			payloads = append(payloads, s.attacked(name, "RFC 9112 section 8", func(ctx context.Context) error {
				return atEachByte(ctx, text, step, end, dial)
			}))
		}
		name := "each byte alone, " + way.name
		payloads = append(payloads, s.attacked(name, "RFC 9112 section 2.1", func(ctx context.Context) error {
			conn, err := dial(ctx)
			if err != nil {
				return err
			}
			defer conn.Close()
			go func() {
				for i := range text {
					_, _ = io.WriteString(conn, text[i:i+1])
				}
			}()
			return answersOf(conn, statuses, "GET", "GET", "POST", "POST", "HEAD")
		}))
	}
	return inFamily("connections: cuts", payloads)
}

// answersOf reads responses until the end of a connection, and returns an error unless they have these
// statuses.
func answersOf(conn net.Conn, statuses []int, methods ...string) error {
	text, err := io.ReadAll(conn)
	if len(text) == 0 && err != nil {
		return err
	}
	got, err := replies(text, methods...)
	if err != nil {
		return err
	}
	for i, r := range got {
		if i >= len(statuses) || r.status != statuses[i] {
			return fmt.Errorf(
				"response %d of %d has status %d, not one of %d: %.200q",
				i,
				len(got),
				r.status,
				statuses,
				r.body,
			)
		}
	}
	if len(got) < len(statuses) {
		return fmt.Errorf("of %d requests %d are answered", len(statuses), len(got))
	}
	return nil
}

// pipelines send 1,000 requests before reading a response, with one invalid request among them: requests before
// it are answered in order, it is rejected, and no later one is answered (RFC 9112 section 9.3.2).
func (s *stage) pipelines() []payload {
	const length = 1000
	good := []struct {
		sends, method string
		status        int
	}{
		{cached, "GET", 302},
		{forSite("GET /small", "\r\n"), "GET", 200},
		{forSite("HEAD /small", "\r\n"), "HEAD", 200},
		{forSite("POST /p/pipeline", "Content-Length: 3\r\n\r\nGET"), "POST", 200},
		{forSite("POST /p/pipeline", "Transfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n0\r\n\r\n"), "POST", 200},
		{"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", "GET", 404},
		{"POST /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "POST", 405},
		{"\r\n" + cached, "GET", 302},
		{"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS", 200},
		{forSite("GET /small", "If-None-Match: \"a\"\r\n\r\n"), "GET", 200},
		{forSite("GET /p/pipeline", "\r\n"), "GET", 200},
	}
	var payloads []payload
	for i, bad := range []struct {
		name, sends string
		status      int
	}{
		{"nothing that is wrong", "GET /small HTTP/1.1\r\nHost: " + siteHost + "\r\nConnection: close\r\n\r\n", 200},
		{"no Host", "GET /small HTTP/1.1\r\n\r\n", 400},
		{"two lengths", forSite("POST /small", "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), 400},
		{
			"a length and chunks",
			forSite("POST /small", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400,
		},
		{"a coding that nobody knows", forSite("POST /small", "Transfer-Encoding: evil, chunked\r\n\r\n"), 501},
		{"another version", "GET /small HTTP/3.0\r\nHost: a\r\n\r\n", 505},
		{"a bare LF", "GET /small HTTP/1.1\nHost: a\r\n\r\n", 400},
		{"a field that goes on", forSite("GET /small", "X: a\r\n b\r\n\r\n"), 400},
		{"a blank before a colon", forSite("GET /small", "X : a\r\n\r\n"), 400},
		{"NUL", "\x00", 400},
		{"an expectation", forSite("GET /small", "Expect: evil\r\nConnection: close\r\n\r\n"), 417},
		{"a header of 100 kB", forSite("GET /small", "X: "+strings.Repeat("a", 100_000)+"\r\n\r\n"), 431},
		{"a chunk that is none", forSite("POST /p/pipeline", "Transfer-Encoding: chunked\r\n\r\nevil\r\n"), 400},
	} {
		source := rand.New(rand.NewPCG(uint64(i), 0))
		var text strings.Builder
		var statuses []int
		var methods []string
		at := source.IntN(length)
		if i == 0 {
			at = length - 1
		}
		for n := range length {
			if n == at {
				method, _, _ := strings.Cut(bad.sends, " ")
				text.WriteString(bad.sends)
				statuses, methods = append(statuses, bad.status), append(methods, method)
				continue
			}
			one := good[source.IntN(len(good))]
			text.WriteString(one.sends)
			if n < at {
				statuses, methods = append(statuses, one.status), append(methods, one.method)
			}
		}
		for _, way := range []route{site1, siteTLS} {
			name := fmt.Sprintf("1 000 requests with %s in number %d, %s", bad.name, at, way.name)
			payloads = append(payloads, s.attacked(name, "RFC 9112 section 9.3.2", func(ctx context.Context) error {
				conn, err := s.dialBy(ctx, way)
				if err != nil {
					return err
				}
				defer conn.Close()
				go func() { _, _ = io.WriteString(conn, text.String()) }()
				return answersOf(conn, statuses, methods...)
			}))
		}
	}
	return inFamily("connections: pipelines", payloads)
}

// dialBy opens an HTTP/1 connection in clear text or with TLS.
func (s *stage) dialBy(ctx context.Context, way route) (net.Conn, error) {
	if way.tls {
		return connectTLSFrom(ctx, s.tls, s.attacker(), "http/1.1")
	}
	return connect(ctx, s.service, s.attacker())
}

// unreadConnections send requests and read no response: urnd must neither read more than it can answer, nor
// wait indefinitely (CWE-770).
func (s *stage) unreadConnections() []payload {
	var payloads []payload
	for name, text := range map[string]string{
		"what is cached": forSite("GET /small", "\r\n"), "what is long": forSite("GET /large", "\r\n"),
		"what is not cached": forSite("GET /uncached", "\r\n"),
		"a mixture": cached + forSite("GET /uncached", "\r\n") +
			forSite("POST /p/unread", "Content-Length: 3\r\n\r\nabc") + "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n",
		"what is refused": "GET /nothing HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n",
	} {
		for _, way := range []route{site1, siteTLS} {
			name := "requests without end for " + name + ", and no reading, " + way.name
			payloads = append(payloads, s.attacked(name, "CWE-770", func(ctx context.Context) error {
				conn, err := s.dialBy(ctx, way)
				if err != nil {
					return err
				}
				defer conn.Close()
				sent := 0
				for batch := strings.Repeat(text, 100); err == nil; sent++ {
					_, err = io.WriteString(conn, batch)
				}
				if ctx.Err() != nil {
					return fmt.Errorf("the connection stays open behind %d requests", 100*sent)
				}
				return nil
			},
			))
		}
	}
	for _, e := range []struct{ name, section, begins, again string }{
		{
			"chunks with an extension", "7.1.1", forSite("POST /p/chunks", "Transfer-Encoding: chunked\r\n\r\n1;"),
			"a=b;",
		},
		{"a trailer", "7.1.2", forSite("POST /p/chunks", "Transfer-Encoding: chunked\r\n\r\n0\r\n"), "X: y\r\n"},
		{"empty lines", "2.2", "", "\r\n"},
	} {
		p := s.attacked(e.name+" without end", "RFC 9112 section "+e.section, func(ctx context.Context) error {
			return s.endless(ctx, e.begins, e.again)
		})
		payloads = append(payloads, p)
	}
	legal := s.attacked("chunks of one byte for a second", "RFC 9112 section 7.1", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel() // legal, with costs proportional to its size
		err := s.endless(ctx, forSite("POST /p/chunks", "Transfer-Encoding: chunked\r\n\r\n"), "1\r\na\r\n")
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
	payloads = append(payloads, legal)
	return payloads
}

// endless sends the same bytes repeatedly until urnd closes the connection.
func (s *stage) endless(ctx context.Context, begins, again string) error {
	conn, err := connect(ctx, s.service, s.attacker())
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	_, err = io.WriteString(conn, begins)
	for text := strings.Repeat(again, 1000); err == nil; {
		_, err = io.WriteString(conn, text)
	}
	if ctx.Err() != nil {
		return errors.New("the connection stays open")
	}
	return nil
}

// tunnels are requests whose connection becomes a tunnel, with data after the header: it belongs to the tunnel,
// wherever it is split, and is not a request to urnd (RFC 9110 section 9.3.6).
func (s *stage) tunnels() []payload {
	var payloads []payload
	id := s.id()
	head := "CONNECT " + s.origin.address + " HTTP/1.1\r\nHost: a\r\n\r\n"
	s.origin.on("/tunneled/"+id, keeps("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin"))
	s.origin.on("/switched/"+id, func(conn net.Conn, _ *http.Request) bool {
		_, err := io.WriteString(conn, switching)
		return err == nil
	})
	inside := "GET /tunneled/" + id + " HTTP/1.1\r\nHost: a\r\n\r\n"
	for name, head := range map[string]string{
		"CONNECT": head, "CONNECT behind a cached answer": cached + head,
		"Upgrade": forSite("GET /switched/"+id, "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
	} {
		name := name + ", cut at each byte"
		payloads = append(payloads, s.attacked(name, "RFC 9110 section 9.3.6", func(ctx context.Context) error {
			text := head + inside
			for n := len(head) - 4; n <= len(text); n++ {
				if err := s.tunneled(ctx, text[:n], text[n:]); err != nil {
					return fmt.Errorf("at %d of %d: %w", n, len(text), err)
				}
			}
			return nil
		}))
	}
	return inFamily("connections: tunnels", payloads)
}

// tunneled sends two parts of a text that ends with a request in a tunnel, and waits for its response.
func (s *stage) tunneled(ctx context.Context, first, second string) error {
	conn, err := connect(ctx, s.service, friend)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, first)
	_, _ = io.WriteString(conn, second)
	reader := bufio.NewReader(conn)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "Content-Length: 2\r\n" {
			break
		}
	}
	rest := make([]byte, 4)
	if _, err := io.ReadFull(reader, rest); err != nil || string(rest) != "\r\nin" {
		return errors.Join(err, fmt.Errorf("the tunnel has %q", rest))
	}
	return nil
}

// otherProtocols use another protocol than the listener, or than ALPN has selected: the connection is rejected
// or closed.
func (s *stage) otherProtocols() []payload {
	var payloads []payload
	preface := dialogueOfHTTP2()
	for _, p := range []struct {
		name, alpn, sends string // "" is clear text
	}{
		{"HTTP/2 in clear text", "", preface},
		{"HTTP/2 in clear text behind a request", "", cached + preface},
		{"TLS in clear text", "", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"},
		{"HTTP/2 where HTTP/1.1 is chosen", "http/1.1", preface},
		{"HTTP/1.1 where HTTP/2 is chosen", "h2", cached},
		{"TLS in TLS", "h2", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"},
	} {
		payloads = append(payloads, s.attacked(p.name, "RFC 9113 section 3", func(ctx context.Context) error {
			var conn net.Conn
			var err error
			if p.alpn == "" {
				conn, err = connect(ctx, s.service, s.attacker())
			} else {
				conn, err = connectTLSFrom(ctx, s.tls, s.attacker(), p.alpn)
			}
			if err != nil {
				return err
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, p.sends)
			_, err = io.Copy(io.Discard, conn)
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				return fmt.Errorf("it stays open: %w", err)
			}
			return nil
		}))
	}
	return payloads
}
