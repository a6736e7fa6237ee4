//go:build e2e

package machines

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// startSecure runs an urnd on a TLS socket that outlives it, like one of systemd.
func startSecure(t *testing.T, socket *os.File, pair pairFiles, lines ...string) *fileDaemon {
	t.Helper()
	l := newFileDaemon(t, append([]string{
		"listen: {service: '127.0.0.1:0', tls: '127.0.0.1:0', admin: ''}",
		"tls: {certificate: '" + pair.certificate + "', key: '" + pair.key + "'}",
	}, lines...)...)
	l.serveOn(t, socket, "https")
	l.ready(t)
	return l
}

// secureSocket returns a socket, its address, and a certificate for it.
func secureSocket(t *testing.T) (socket *os.File, address string, pair pairFiles) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	if socket, err = listener.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket, listener.Addr().String(), newPair(t, testserver.NewAuthority(t), "urnd")
}

// TestRestartLosesNothingByHTTP2 checks that a restart loses no request of HTTP/2 clients with many streams on
// few connections: GOAWAY identifies late requests as unprocessed.
func TestRestartLosesNothingByHTTP2(t *testing.T) {
	t.Parallel()
	socket, address, pair := secureSocket(t)
	const connections, streams, restarts = 4, 16, 4
	var answered, failed atomic.Int64
	var ended atomic.Bool
	var failure atomic.Value
	var asking sync.WaitGroup
	var transports []*http.Transport
	begin := func() {
		for range connections {
			transport := &http.Transport{
				ForceAttemptHTTP2: true,
				TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			}
			transports = append(transports, transport)
			for n := range streams {
				asking.Go(func() {
					for i := 0; !ended.Load(); i++ {
						name := "1"
						if n%2 > 0 { // handled by net/http
							name = fmt.Sprintf("%d/%d", n, i)
						}
						response, err := transport.RoundTrip(request(t, http.MethodGet,
							"https://"+address+"/urn:book:"+name))
						if err == nil {
							_ = response.Body.Close()
							if response.StatusCode != http.StatusFound || response.ProtoMajor != 2 {
								err = fmt.Errorf("%s %s", response.Proto, response.Status) //nolint:err113 // only here
							}
						}
						if err != nil {
							failed.Add(1)
							failure.Store(err.Error())
							continue
						}
						answered.Add(1)
					}
				})
			}
		}
	}
	for restart := range restarts + 1 {
		l := startSecure(t, socket, pair)
		if restart == 0 {
			begin()
		}
		before := answered.Load()
		testserver.Wait(t, "requests are answered", func() bool { return answered.Load() > before+1000 })
		if restart == restarts {
			ended.Store(true)
			asking.Wait()
			for _, transport := range transports {
				transport.CloseIdleConnections()
			}
		}
		l.stop(t)
	}
	if failed.Load() > 0 {
		t.Errorf("%d of %d requests failed, such as %v", failed.Load(), answered.Load()+failed.Load(), failure.Load())
	}
	t.Logf("%d requests were answered", answered.Load())
}

// TestAnswersOfAnEnd checks that from the signal on, while connections are still accepted, clients are asked to
// close their connections by Connection: close, also in a cache hit, and by GOAWAY.
func TestAnswersOfAnEnd(t *testing.T) {
	t.Parallel()
	socket, address, pair := secureSocket(t)
	l := startSecure(t, socket, pair, "limits: {notice_time: 2s}")
	plain, err := net.Dial("tcp", l.url[len("http://"):])
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	reader := bufio.NewReader(plain)
	ask := func() (closes bool) {
		t.Helper()
		fmt.Fprint(plain, "GET /urn:book:1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != http.StatusFound {
			t.Fatalf("%+v, %v", response, err)
		}
		_, _ = reader.Discard(int(response.ContentLength))
		return response.Close
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	client, err := transport.NewClientConn(t.Context(), "https", address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	askHTTP2 := func() {
		t.Helper()
		response, err := client.RoundTrip(request(t, http.MethodGet, "https://"+address+"/urn:book:1"))
		if err != nil || response.StatusCode != http.StatusFound || response.ProtoMajor != 2 {
			t.Fatalf("%+v, %v", response, err)
		}
		_ = response.Body.Close()
	}
	for range 3 {
		askHTTP2()
		if ask() || client.Available() == 0 {
			t.Fatal("a connection is to be closed before the end")
		}
	}
	stopped := make(chan struct{})
	go func() { defer close(stopped); l.stop(t) }()
	// The first request may arrive before the signal.
	testserver.Wait(t, "HTTP/1.1 is asked to close", ask)
	testserver.Wait(t, "HTTP/2 is told to go away", func() bool { return client.Available() == 0 })
	another, err := net.Dial("tcp", l.url[len("http://"):])
	if err != nil {
		t.Fatalf("within limits.notice_time: %v", err)
	}
	plain, reader = another, bufio.NewReader(another)
	if !ask() {
		t.Error("a new connection is not asked to close")
	}
	_ = another.Close()
	<-stopped
}
