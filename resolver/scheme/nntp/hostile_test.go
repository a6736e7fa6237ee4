package nntp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// TestRefusedTLS: a server that offers TLS and rejects it gets no password (RFC 4642 section 2.2.1).
func TestRefusedTLS(t *testing.T) {
	s := serve(t, "200 x", "CAPABILITIES", "101 x\r\nVERSION 2\r\nREADER\r\nSTARTTLS\r\nOVER\r\n.", "STARTTLS",
		"580 not now",
		"AUTHINFO USER", "381 go on", "AUTHINFO PASS", "281 welcome", "GROUP", "211 0 0 0 g")
	if got := status(t, config(), "news://user:secret@"+s.Address+"/g"); got != http.StatusBadGateway {
		t.Errorf("got %d", got)
	}
}

// TestOldRefusals: RFC 2980 section 3.1 has other codes for missing authentication.
func TestOldRefusals(t *testing.T) {
	for _, say := range [][]string{
		{"200 x", "GROUP", "450 log in"},
		{"200 x", "AUTHINFO", "452 wrong", "GROUP", "211 0 0 0 g"},
	} {
		s := serve(t, say...)
		if got := status(t, config(), "news://user:secret@"+s.Address+"/g"); got != http.StatusUnauthorized {
			t.Errorf("%q: got %d", say, got)
		}
	}
}

// TestLongNames: a group name above the limit of RFC 3977 section 3.1 is skipped, because no command can have
// it.
func TestLongNames(t *testing.T) {
	longest := strings.Repeat("a", 497)
	s := serve(t, "200 x", "LIST ACTIVE", "215 x\r\n"+longest+" 1 1 y\r\na"+longest+" 1 1 y\r\n.")
	if l := listing(t, config(s), "news:*"); len(l.Items) != 1 || l.Items[0].Name != longest {
		t.Errorf("%+v", l.Items)
	}
}

// TestEndlessParts: the content before the requested part has a limit of bytes, and a timeout.
func TestEndlessParts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		piece string
		pause time.Duration
	}{
		{"bytes", strings.Repeat("a line of a part\r\n", 1000), 0},
		{"time", "a line of a part\r\n", 10 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			t.Cleanup(func() { l.Close(); <-done })
			go func() {
				defer close(done)
				if conn, err := l.Accept(); err == nil {
					defer conn.Close()
					playEndless(conn, tt.piece, tt.pause)
				}
			}()
			c := config()
			if tt.pause > 0 {
				c.Limits.Timeout = 300 * time.Millisecond
			}
			testserver.Within(t, "looking for the part", func() {
				text := "news://" + l.Addr().String() + "/a@b?part=2"
				if tt.pause == 0 {
					if got := status(t, c, text); got != http.StatusBadGateway {
						t.Errorf("got %d", got)
					}
					return
				}
				var timeout net.Error
				if _, err := fetch(t, c, text); !errors.As(err, &timeout) || !timeout.Timeout() ||
					errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// playEndless implements a server with an article whose first part does not end.
func playEndless(conn net.Conn, piece string, pause time.Duration) {
	lines := bufio.NewScanner(conn)
	for say := "200 x"; ; say = "500 what?" {
		if strings.HasPrefix(lines.Text(), "ARTICLE") {
			break
		}
		if _, err := io.WriteString(conn, say+"\r\n"); err != nil || !lines.Scan() {
			return
		}
	}
	_, err := io.WriteString(conn, "220 0 <a@b>\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\n")
	for ; err == nil; time.Sleep(pause) { // a slow server
		_, err = io.WriteString(conn, piece)
	}
}

// TestBareLF: the author of an article cannot end it by a dot between bare LFs, which servers such as INN pass on
// unchanged. The rest of it would be the replies to the next commands on the connection.
func TestBareLF(t *testing.T) {
	const article = "Subject: s\r\n\r\ntext\n.\n111 20261130000000\r\n211 1 1 1 g\r\n"
	s := serve(t, "200 x", "ARTICLE", "220 0 <a@h.test>\r\n"+article+".")
	if got, _ := body(t, config(s), "news:a@h.test?source"); got != article {
		t.Errorf("got %q", got)
	}
}
