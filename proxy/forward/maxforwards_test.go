package forward_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/problem"
)

// RFC 9110 section 7.6.2: TRACE and OPTIONS are forwarded as often as Max-Forwards allows; section 9.3.8: the
// final recipient returns the request, without secret fields.
func TestMaxForwards(t *testing.T) {
	w := newWeb(t, nil, nil)
	const target = "http://a.example/"
	for _, tt := range []struct {
		method string
		limit  []string
		sent   string // Max-Forwards of the request at the origin, "" if it gets none
		body   string
		valid  bool
	}{
		{"OPTIONS", []string{"3"}, "2", "", true},
		{"TRACE", []string{"1"}, "0", "", true},
		{"TRACE", []string{"0007"}, "6", "", true},
		{"TRACE", []string{"99999999999999999999999"}, "999999998", "", true},
		{"GET", []string{"0"}, "0", "", true},
		{"OPTIONS", []string{"0"}, "", "", true},
		{"OPTIONS", []string{"000"}, "", "", true},
		{
			"TRACE",
			[]string{"0"},
			"",
			"TRACE " + target + " HTTP/1.1\r\nHost: example.com\r\nX-Shown: 1\r\nMax-Forwards: 0\r\n\r\n", true,
		},
		{"OPTIONS", []string{"-1"}, "", "", false},
		{"OPTIONS", []string{""}, "", "", false},
		{"TRACE", []string{"1", "2"}, "", "", false},
		{"TRACE", []string{"1 "}, "", "", false},
	} {
		fields := []string{
			"X-Shown", "1", "Cookie", "secret", "Authorization", "secret",
			"Proxy-Authorization", "secret",
		}
		for _, line := range tt.limit {
			fields = append(fields, "Max-Forwards", line)
		}
		client := w.serve(t, requested(t, tt.method, target, fields...))
		sent, count := w.last()
		if valid := client.err == nil; valid != tt.valid || !valid && !errors.Is(client.err, problem.ErrMalformed) {
			t.Errorf("%s %q: %v", tt.method, tt.limit, client.err)
		}
		if (count > 0) != (tt.sent != "") || sent.Fields.Get("Max-Forwards") != tt.sent {
			t.Errorf("%s %q: the origin gets %v", tt.method, tt.limit, sent.Fields)
		}
		last := tt.valid && tt.sent == ""
		if client.Body.String() != tt.body || (client.Fields.Get("Allow") != "") != (last && tt.method == "OPTIONS") ||
			last && client.Fields.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %q: %v %q", tt.method, tt.limit, client.Fields, &client.Body)
		}
		if last && tt.method == http.MethodTrace &&
			!strings.HasPrefix(client.Fields.Get("Content-Type"), "message/http") {
			t.Errorf("%s %q: %v", tt.method, tt.limit, client.Fields)
		}
	}
}
