package http2_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// A request is answered by Begin and by Continue.
func TestRequest(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]handler{"Begin": atOnce(plain), "Continue": later(plain)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, h, nil).open(t)
			for range 3 {
				fields := get("/x?y", "user-agent: z", "cookie: a=b", "accept: */*", "cookie: c=d")
				a := c.receive(c.ask(true, fields...))
				const want = "GET https a.example /x?y HTTP/2.0 user-agent=z cookie=a=b; c=d accept=*/*"
				typed := a.field("content-type") == "text/plain" && a.field("content-length") == "73"
				if a.status != "200" || a.body != want || !typed {
					t.Fatalf("%v", a)
				}
				if _, err := time.Parse(time.RFC1123, a.field("date")); err != nil {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

var hold = flag.Duration("hold", 0, "how long TestServe serves, for other clients")

// site answers small documents by Begin, and others by Continue; it echoes request content.
func site() handler {
	large := bytes.Repeat([]byte("x"), 10<<20)
	return handler{begin: func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) bool {
		if r.Body != nil || r.Target == "/large" || r.Target == "/later" {
			return false
		}
		plain(r, w)
		return true
	}, next: func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
		switch {
		case r.Target == "/large":
			_, _ = w.Write(large)
		case r.Body != nil:
			_, _ = w.ReadFrom(r.Body)
		default:
			plain(r, w)
		}
	}}
}

// TestServe serves external clients.
func TestServe(t *testing.T) {
	if *hold == 0 {
		t.Skip("there is no -hold")
	}
	address := listenTCP(t, site(), nil)
	t.Log(address)
	_ = os.WriteFile(os.TempDir()+"/http2.address", []byte(address), 0o600)
	time.Sleep(*hold)
}

// TestH2Spec runs h2spec, if it is installed.
func TestH2Spec(t *testing.T) {
	path, err := exec.LookPath("h2spec")
	if err != nil || testing.Short() {
		t.Skip("h2spec is not installed, or the tests are short")
	}
	address := listenTCP(t, site(), nil)
	host, port, _ := bytes.Cut([]byte(address), []byte(":"))
	command := exec.CommandContext(t.Context(), path, "-h", string(host), "-p", string(port), "-o", "2")
	output, err := command.CombinedOutput()
	if err != nil {
		_, failures, _ := bytes.Cut(output, []byte("Failures:"))
		t.Errorf("%v\n%s", err, failures)
	}
}
