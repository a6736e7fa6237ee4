package main

import (
	"bufio"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// openLoopback lets urnd ask what is on loopback.
func openLoopback(c *config.Config) {
	c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// oneRule is a rule of urn:name: in the zone of startDaemon.
const oneRule = `name.urn.example.org. 60 IN NAPTR 100 10 "u" "http+N2L" "!^urn:name:(.+)$!https://a.example/\\1!" .`

// warnings returns the lines of the log that are above INFO.
func (d *testService) warnings() []string {
	return slices.DeleteFunc(strings.Split(d.log.String(), "\n"), func(line string) bool {
		return line == "" || strings.Contains(line, " level=INFO ")
	})
}

func (d *testService) expectMetrics(t *testing.T, lines ...string) {
	t.Helper()
	text := d.scrape()
	for _, line := range lines {
		if !strings.Contains(text, "\nurnd_"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

// exchangeOctets sends a request, and returns all that comes.
func exchangeOctets(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testserver.Patience))
	_, _ = io.WriteString(conn, request)
	got, _ := io.ReadAll(bufio.NewReader(conn))
	return string(got)
}
