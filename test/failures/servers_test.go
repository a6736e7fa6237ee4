//go:build e2e

package failures

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/test/urndtest"
)

// servers returns DNS servers that do not depend on the HTTP server.
func servers(all ...urndtest.DNSServer) func(*testing.T, *urndtest.WebServer) []urndtest.DNSServer {
	return func(*testing.T, *urndtest.WebServer) []urndtest.DNSServer { return all }
}

// healthyAtStart responds to the query for the root that urnd sends at its start, so that failures occur later.
func healthyAtStart(s urndtest.DNSServer) urndtest.DNSServer {
	answering := func(next dns.HandlerFunc) dns.HandlerFunc {
		if next == nil {
			return nil
		}
		return func(w dns.ResponseWriter, question *dns.Msg) {
			if strings.EqualFold(question.Question[0].Name, "urn.example.org.") {
				urndtest.AnswerRcode(dns.RcodeSuccess)(w, question)
				return
			}
			next(w, question)
		}
	}
	return urndtest.DNSServer{UDP: answering(s.UDP), TCP: answering(s.TCP)}
}

func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusFound)
}

// redirectToLocation responds like a server that knows every name.
func redirectToLocation(w http.ResponseWriter, _ *http.Request) { redirect(w, "https://a.example/") }

// trickle begins a list, and sends a byte of it every few milliseconds while the client reads.
func trickle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/uri-list")
	drip(r.Context(), func(byteValue string) error {
		if _, err := io.WriteString(w, byteValue); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	})
}

// trickleHeader sends a header like trickle.
func trickleHeader(w http.ResponseWriter, r *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-Long: ")
	drip(r.Context(), func(byteValue string) error {
		_, err := io.WriteString(conn, byteValue)
		return err
	})
}

func drip(ctx context.Context, send func(byteValue string) error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for send("#") == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
