package nntp_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/nntp"
	"github.com/urnd/urnd/resolver/schemetest"
)

// TestScheme runs the conformance suite with a part of an article, and a group whose articles have the names.
func TestScheme(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	schemetest.Run(t, schemetest.Suite{
		New: func(_ testing.TB, dial scheme.Dial, limits scheme.Limits) scheme.Handler {
			return nntp.New(nntp.Config{
				Dial: dial, Limits: limits, Now: time.Now, PageSize: 100, MaxIdle: 4,
				IdleTimeout: time.Minute,
			})
		},
		Peer:     playNews,
		Resource: func(address string) string { return "news://" + address + "/a@b.example?part=1" },
		Listing:  func(address string) string { return "news://" + address + "/a.group" },
	})
}

func playNews(conn net.Conn, s *schemetest.Server) {
	fmt.Fprint(conn, "200 ready\r\n")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var err error
		switch word, _, _ := strings.Cut(lines.Text(), " "); word {
		case "CAPABILITIES":
			_, err = io.WriteString(conn, "101 these\r\nVERSION 2\r\nREADER\r\nOVER\r\n.\r\n")
		case "GROUP":
			_, err = fmt.Fprintf(conn, "211 %d 1 %d a.group\r\n", len(s.Names), len(s.Names))
		case "OVER":
			_, err = io.WriteString(conn, "224 overview\r\n")
			for i, name := range s.Names {
				if err == nil {
					_, err = fmt.Fprintf(conn, "%d\t%s\t%s\t\t<%d@b.example>\t\t1\t1\r\n", i+1, name, name, i+1)
				}
			}
			if err == nil {
				_, err = io.WriteString(conn, ".\r\n")
			}
		case "ARTICLE":
			err = sendBlock(conn, s.Body())
		case "QUIT":
			return
		default:
			_, err = io.WriteString(conn, "500 what?\r\n")
		}
		if err != nil {
			return
		}
	}
}

// sendBlock sends bytes as the body of an article, in base64, which allows any bytes.
func sendBlock(conn io.Writer, byteCount io.Reader) error {
	if _, err := io.WriteString(conn,
		"220 0 <a@b.example>\r\nSubject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n"); err != nil {
		return err
	}
	const line = 3 * 19 // 76 characters
	block, text := make([]byte, 100*line), []byte(nil)
	for {
		n, err := io.ReadFull(byteCount, block)
		text = text[:0]
		for piece := range slices.Chunk(block[:n], line) {
			text = append(base64.StdEncoding.AppendEncode(text, piece), "\r\n"...)
		}
		if _, failure := conn.Write(text); failure != nil {
			return failure
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	_, err := io.WriteString(conn, ".\r\n")
	return err
}
