package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A body that the client aborts or malforms is an error of the client: 400, and the origin is not marked as failing.
func TestBrokenBodies(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer web.Close()
	for _, body := range []string{
		"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
		"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
		"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nfffffffffffffffff\r\n",
		"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nbad trailer\r\n\r\n",
	} {
		s := start(t, nil)
		s.next = withLocations(web.URL+"/", "http://other.example/")
		response := s.ask(t, "POST "+web.URL+"/ HTTP/1.1\r\nHost: a\r\n"+body)[0]
		if got := text(t, response); response.StatusCode != http.StatusBadRequest || !response.Close ||
			!strings.Contains(got,
				"request body could not be read") {
			t.Errorf("%q: %d %s", body, response.StatusCode, got)
		}
		if got := s.get(t, "/urn:example:1").Header.Get("Location"); got != web.URL+"/" {
			t.Errorf("%q: the origin is avoided: %s", body, got)
		}
	}
}

// A body that stalls gets 408, and its slot is released; a slow one is accepted, however long it takes in total.
func TestSlowBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/late" { // the response may take any time
			<-time.After(3 * bodyTimeout)
		}
		fmt.Fprint(w, n, err)
	}))
	t.Cleanup(web.Close)
	s := start(t, nil)
	conn := s.dial(t)
	fmt.Fprintf(conn, "POST %s/ HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n", web.URL)
	started := time.Now()
	for range 10 { // each part shortly before the timeout
		<-time.After(bodyTimeout / 5)
		fmt.Fprint(conn, "a")
	}
	reader := conn.in
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != http.StatusOK || text(t, response) != "10 <nil>" ||
		time.Since(started) < bodyTimeout {
		t.Fatalf("a slow body: %v, %v", response, err)
	}
	fmt.Fprintf(conn, "POST %s/ HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf", web.URL)
	response, err = http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != http.StatusRequestTimeout ||
		!strings.Contains(text(t, response), "limits.body_timeout") {
		t.Errorf("a body that stops: %v, %v", response, err)
	}
	if got := s.get(t, web.URL+"/").StatusCode; got != http.StatusOK {
		t.Errorf("afterwards: %d", got)
	}
	for _, target := range []string{"/urn:example:1", "/uri-res/N2R?urn:example:1", "/api/v1/resolve", "/"} {
		t.Run("a body that stops and urnd does not read, "+target, func(t *testing.T) {
			t.Parallel()
			if response := s.ask(t,
				"PUT "+target+
					" HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")[0]; response.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%v", response)
			}
		})
	}
	for _, body := range []string{
		"Content-Length: 4\r\n\r\nbody",
		"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
	} {
		t.Run("a late answer", func(t *testing.T) {
			t.Parallel()
			response := s.ask(t, "POST "+web.URL+"/late HTTP/1.1\r\nHost: a\r\n"+body)[0]
			if got := text(t, response); response.StatusCode != http.StatusOK || got != "4 <nil>" {
				t.Errorf("%d %s", response.StatusCode, got)
			}
		})
	}
}

// An error response precedes the body if the client waits for 100 (RFC 9110 section 10.1.1). The response of an origin
// that does not read the body is forwarded, and the connection closes, even if the client never sends the rest.
func TestUnreadBodies(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	defer web.Close()
	s := start(t, nil)
	for _, tt := range []struct {
		name, request string
		status        int
		atOnce        bool
	}{
		{
			"refused with Expect",
			"PUT /urn:example:1 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n", 405, true,
		},
		{
			"not allowed with Expect",
			"PUT http://10.0.0.1/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n", 403,
			true,
		},
		{
			"too much to be read", "PUT /urn:example:1 HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n",
			405, true,
		},
		{"answered early", "POST " + web.URL + "/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx", 413, false},
		{
			"answered early in chunks",
			"POST " + web.URL + "/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", 413, false,
		},
	} {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(20 * bodyTimeout)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		fmt.Fprint(conn, tt.request)
		reader := bufio.NewReader(conn)
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != tt.status || tt.atOnce && time.Since(began) >= bodyTimeout {
			t.Errorf("%s: %v, %v after %s", tt.name, response, err, time.Since(began))
		} else if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Errorf("%s: the connection stays open: %v", tt.name, err)
		}
		conn.Close()
	}
}

// A response that no origin may send becomes 502, without a panic.
func TestImpossibleResponses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan string, 1)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, <-answers)
			conn.Close()
		}
	}()
	defer listener.Close()
	s := start(t, nil)
	s.next = withLocations("http://" + listener.Addr().String() + "/")
	for _, answer := range []string{
		"HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 000 None\r\n\r\n", "HTTP/1.1 1000 High\r\n\r\n",
		"HTTP/1.1 -10 Negative\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n",
	} {
		for _, target := range []string{"http://" + listener.Addr().String() + "/", "/uri-res/N2R?urn:example:1"} {
			answers <- answer
			if response := s.get(t, target); response.StatusCode != http.StatusBadGateway {
				t.Errorf("%s: %q becomes %d", target, answer, response.StatusCode)
			}
		}
	}
}
