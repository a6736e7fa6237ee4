package urndtest

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// Forms sends a request "METHOD TARGET" with a Host unmodified in each form that urnd accepts: twice on one
// connection, without and with a body, by HTTP/1.0, and by HTTP/2 if the target is a path and urnd listens for
// TLS (see ListenForTLS). It returns the status of each, with the location if there is one.
func (d *Daemon) Forms(t testing.TB, request, host string, fields ...string) map[string]string {
	t.Helper()
	lines := strings.Join(append([]string{"Host: " + host}, fields...), "\r\n") + "\r\n"
	plain := request + " HTTP/1.1\r\n" + lines + "\r\n"
	both := d.raw(t, plain+plain, 2)
	all := map[string]string{"plain": both[0], "plain again": both[1]}
	for form, text := range map[string]string{
		"close":    " HTTP/1.1\r\nConnection: close\r\n" + lines + "\r\n",
		"no body":  " HTTP/1.1\r\nContent-Length: 0\r\n" + lines + "\r\n",
		"body":     " HTTP/1.1\r\nContent-Length: 2\r\n" + lines + "\r\nab",
		"chunks":   " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + lines + "\r\n2\r\nab\r\n0\r\n\r\n",
		"HTTP/1.0": " HTTP/1.0\r\n" + lines + "\r\n",
	} {
		all[form] = d.raw(t, request+text, 1)[0]
	}
	if method, target, _ := strings.Cut(request, " "); strings.HasPrefix(target, "/") && len(d.Config.Listen.TLS) > 0 {
		all["HTTP/2"] = d.byHTTP2(t, method, target, host, fields)
	}
	return all
}

// raw sends requests unmodified, and returns the statuses and locations of n responses.
func (d *Daemon) raw(t testing.TB, requests string, n int) (outcomes []string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testserver.Timeout))
	if _, err := io.WriteString(conn, requests); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(requests, " ")
	from := bufio.NewReader(conn)
	for range n {
		response, err := http.ReadResponse(from, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%.200q: %v", requests, err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatalf("%.200q: %v", requests, err)
		}
		outcomes = append(outcomes, outcome(response))
	}
	return outcomes
}

// ListenForTLS makes urnd listen for TLS with a certificate that Forms does not verify.
func ListenForTLS(t testing.TB, c *config.Config) {
	t.Helper()
	certificate, key := NewAuthority(t).Issue(t, "urn")
	NewPairFiles(t, certificate, key).Listen(c, FreeAddress(t))
}

// byHTTP2 sends a request with the host as the TLS server name, like browsers.
func (d *Daemon) byHTTP2(t testing.TB, method, target, host string, fields []string) string {
	t.Helper()
	name, _, _ := strings.Cut(host, ":")
	transport := &http.Transport{
		Protocols:       new(http.Protocols),
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: strings.TrimSuffix(name, ".")},
	}
	transport.Protocols.SetHTTP2(true)
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+d.Config.Listen.TLS[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque, r.Host = target, host
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Set(name, value)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return outcome(response)
}

func outcome(response *http.Response) string {
	return strings.TrimSpace(strconv.Itoa(response.StatusCode) + " " + response.Header.Get("Location"))
}
