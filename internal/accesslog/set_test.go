package accesslog_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
)

// open opens a log with the clock and the counter of lost lines of the test.
func open(t *testing.T, c accesslog.FileConfig) *accesslog.File {
	t.Helper()
	c.ErrorLog, c.Now = slog.New(slog.DiscardHandler), time.Now
	f, err := accesslog.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func formatOf(t *testing.T, text string) accesslog.Format {
	t.Helper()
	f, err := accesslog.ParseFormat(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSet checks that each log of a set contains the requests that it selects, in its format, and with its
// privacy settings.
func TestSet(t *testing.T) {
	var all, errorsOnly, quiet strings.Builder
	set := accesslog.Set{
		open(t, accesslog.FileConfig{
			Writer: &all,
			Config: accesslog.Config{Format: formatOf(t, "apache:%h %u %s %U%q %{Referer}i")},
		}),
		open(t, accesslog.FileConfig{Writer: &errorsOnly, Config: accesslog.Config{
			Format: formatOf(t, "apache:%h %s"), Clients: accesslog.NoClients,
			Filter: func(e *accesslog.Entry) bool { return e.Status >= 500 && e.Client.IsValid() },
		}}),
		open(t, accesslog.FileConfig{Writer: &quiet, Config: accesslog.Config{
			Format: formatOf(t, "apache:%h %u %s %U%q %{Referer}i %{User-Agent}i"), Clients: accesslog.ClientNetworks,
			Omit: accesslog.Omit{User: true, Query: true, UserAgent: true},
		}}),
	}
	for i, client := range []string{"192.0.2.77", "2001:db8:1:2:3::4", "::ffff:192.0.2.77"} {
		set.Write(accesslog.Entry{
			Client: netip.MustParseAddr(client), User: "me", Status: 499 + i, Target: "/a?b",
			Referer: "https://a.example/?q", UserAgent: "x",
		})
	}
	set.Close()
	for _, tt := range []struct{ got, want string }{
		{
			all.String(),
			"192.0.2.77 me 499 /a?b https://a.example/?q\n2001:db8:1:2:3::4 me 500 /a?b " +
				"https://a.example/?q\n::ffff:192.0.2.77 me 501 /a?b https://a.example/?q\n",
		},
		{errorsOnly.String(), "- 500\n- 501\n"},
		{
			quiet.String(),
			"192.0.2.0 - 499 /a https://a.example/ -\n2001:db8:1:: - 500 /a https://a.example/ -\n192.0.2.0 - 501 " +
				"/a https://a.example/ -\n",
		},
	} {
		if tt.got != tt.want {
			t.Errorf("\n%swant\n%s", tt.got, tt.want)
		}
	}
	if failures := accesslog.Set(nil).Failures(); len(failures) > 0 {
		t.Error(failures)
	}
}

// deadline returns a connection deadline.
func deadline(after time.Duration) time.Time { return time.Now().Add(after) }

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, address)
}

// TestSyslogDatagrams checks that messages have the format of syslog(3) on a local socket, and of RFC 5424
// otherwise.
func TestSyslogDatagrams(t *testing.T) {
	for _, tt := range []struct{ network, address, shape string }{
		{
			"unixgram", filepath.Join(t.TempDir(), "log"),
			`^<134>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d urnd\[42\]: GET /%s$`,
		},
		{
			"udp", "127.0.0.1:0",
			`^<134>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z host\.example urnd 42 access - GET /%s$`,
		},
	} {
		listener, err := new(net.ListenConfig).ListenPacket(t.Context(), tt.network, tt.address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		log := open(t, accesslog.FileConfig{
			Config: accesslog.Config{Format: formatOf(t, "apache:%m %U"), Lost: func() { t.Error("a line is lost") }},
			Syslog: &accesslog.Syslog{
				Network: tt.network, Address: listener.LocalAddr().String(), Host: "host.example", PID: 42, Dial: dial,
				Deadline: deadline,
			},
		})
		for _, target := range []string{"/a", "/b"} {
			log.Write(accesslog.Entry{Method: "GET", Target: target})
		}
		accesslog.Set{log}.Close()
		for _, name := range []string{"a", "b"} {
			b := make([]byte, 1000)
			if err := listener.SetReadDeadline(deadline(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			n, _, err := listener.ReadFrom(b)
			if want := regexp.MustCompile(fmt.Sprintf(tt.shape, name)); err != nil || !want.Match(b[:n]) {
				t.Errorf("%v: %q, want %s", err, b[:n], want)
			}
		}
	}
}

// TestSyslogStream checks that messages over TCP are framed by their length (RFC 6587 section 3.4.1), and that
// a restarted server receives later lines.
func TestSyslogStream(t *testing.T) {
	client, server := make(chan net.Conn, 2), make(chan net.Conn, 2)
	for range 2 {
		c, s := net.Pipe()
		client <- c
		server <- s
	}
	log := open(t, accesslog.FileConfig{
		Config: accesslog.Config{Format: formatOf(t, "apache:%U"), Lost: func() { t.Error("a line is lost") }},
		Syslog: &accesslog.Syslog{
			Network: "tcp", Deadline: deadline,
			Dial: func(context.Context, string, string) (net.Conn, error) { return <-client, nil },
		},
	})
	read := func(conn net.Conn, want string) {
		t.Helper()
		r := bufio.NewReader(conn)
		var n int
		if _, err := fmt.Fscanf(r, "%d ", &n); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil || !strings.HasSuffix(string(b), " - urnd 0 access - "+want) {
			t.Errorf("%v: %q", err, b)
		}
	}
	first, second := <-server, <-server
	log.Write(accesslog.Entry{Target: "/a"})
	go log.Flush() // the pipe is unbuffered
	read(first, "/a")
	log.Flush()
	first.Close()
	log.Write(accesslog.Entry{Target: "/b"})
	go log.Flush()
	read(second, "/b")
	accesslog.Set{log}.Close()
	second.Close()
}

// TestSyslogIsDown checks that lines for an unavailable server are dropped and counted, without delaying
// requests.
func TestSyslogIsDown(t *testing.T) {
	const lines = 5000
	dialled := 0
	var lost atomic.Int64
	log := open(t, accesslog.FileConfig{
		Config: accesslog.Config{Lost: func() { lost.Add(1) }},
		Syslog: &accesslog.Syslog{
			Network: "udp", Deadline: deadline,
			Dial: func(context.Context, string, string) (net.Conn, error) {
				dialled++
				return nil, errors.New("no route to host")
			},
		},
	})
	for range lines {
		log.Write(accesslog.Entry{Target: "/" + strings.Repeat("a", 1000)})
	}
	set := accesslog.Set{log}
	log.Flush()
	failures := set.Failures()
	set.Close()
	if lost.Load() != lines || dialled == 0 || dialled > lines/10 || len(failures) != 1 ||
		!strings.Contains(failures[0], "no route to host") {
		t.Errorf("%d lines of %d are lost, %d times dialled, %q", lost.Load(), lines, dialled, failures)
	}
}

// TestSyslogStalls checks that a server that does not read delays no request: excess lines are dropped.
func TestSyslogStalls(t *testing.T) {
	began, over := make(chan struct{}, 10), make(chan struct{})
	var lost atomic.Int64
	log := open(t, accesslog.FileConfig{
		Config: accesslog.Config{Lost: func() { lost.Add(1) }},
		Syslog: &accesslog.Syslog{
			Network: "tcp", Deadline: deadline,
			Dial: func(context.Context, string, string) (net.Conn, error) {
				began <- struct{}{}
				<-over
				return nil, errors.New("refused")
			},
		},
	})
	log.Write(accesslog.Entry{Target: "/"})
	flushed := make(chan struct{})
	go func() {
		log.Flush()
		close(flushed)
	}()
	<-began
	const more = 4000 // more than is gathered
	for range more {
		log.Write(accesslog.Entry{Target: "/" + strings.Repeat("a", 1000)})
	}
	close(over)
	<-flushed
	accesslog.Set{log}.Close()
	if n := lost.Load(); n != more+1 {
		t.Errorf("%d lines are lost", n)
	}
}
