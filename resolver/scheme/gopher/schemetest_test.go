package gopher_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/gopher"
	"github.com/urnd/urnd/resolver/schemetest"
)

// play implements a gopher server whose root menu has the names, each with a selector that starts with a slash.
func play(conn net.Conn, s *schemetest.Server) {
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	defer conn.Close()
	selector := strings.TrimSuffix(line, "\r\n")
	switch selector {
	case "":
		for _, name := range s.Names {
			if _, err := fmt.Fprintf(conn, "0%s\t/%s\t%s\r\n", name, name,
				strings.Replace(conn.LocalAddr().String(), ":", "\t", 1)); err != nil {
				return
			}
		}
		_, _ = io.WriteString(conn, ".\r\n")
	case "resource":
		_, _ = io.Copy(conn, s.Body())
	default:
		s.Requested(strings.TrimPrefix(selector, "/"))
		_, _ = io.WriteString(conn, "text\r\n.\r\n")
	}
}

// playSearch implements a server whose search results have the names.
func playSearch(conn net.Conn, s *schemetest.Server) {
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return
	}
	defer conn.Close()
	for _, name := range s.Names {
		if _, err := fmt.Fprintf(conn, "0%s\t/%s\texample.org\t70\r\n", name, name); err != nil {
			return
		}
	}
}

// playDots implements a Gopher+ server whose attributes end at a line of a single dot.
func playDots(conn net.Conn, s *schemetest.Server) {
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "+-1\r\n")
	for _, name := range s.Names {
		item := fmt.Sprintf("0%s\t/%s\t%s\t+", name, name, strings.Replace(conn.LocalAddr().String(), ":", "\t", 1))
		if _, err := fmt.Fprintf(conn,
			"+INFO: %s\r\n+ADMIN:\r\n Admin: %s\r\n+ABSTRACT:\r\n %s\r\n+ASK:\r\n Ask: %s\r\n+%s: %s\r\n", item, name,
			name, name, name, item); err != nil {
			return
		}
	}
	_, _ = io.WriteString(conn, ".\r\n")
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	uris := func(path string) func(string) string {
		return func(address string) string { return "gopher://" + address + path }
	}
	for name, suite := range map[string]schemetest.Suite{
		"gopher":     {Peer: play, Resource: uris("/9resource"), Listing: uris("/1"), EndsAtClose: true},
		"search":     {Peer: playSearch, Listing: uris("/7%09words"), EndsAtClose: true},
		"attributes": {Peer: playDots, Listing: uris("/1%09%09$")},
	} {
		suite.New = func(_ testing.TB, dial scheme.Dial, limits scheme.Limits) scheme.Handler {
			return gopher.New(gopher.Config{Dial: dial, Limits: limits})
		}
		t.Run(name, func(t *testing.T) { schemetest.Run(t, suite) })
	}
}
