package valkey

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scripted is a server that sends the replies of a script, one for each command on any connection, and then
// those of an empty server.
type scripted struct{ replies chan []byte }

func newScripted(script []byte) scripted {
	parts := bytes.Split(script, []byte("\xff"))
	s := scripted{make(chan []byte, len(parts))}
	for _, part := range parts {
		s.replies <- part
	}
	return s
}

func (s scripted) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go s.serve(server) // until the client closes it
	return client, nil
}

func (s scripted) serve(conn net.Conn) {
	defer conn.Close()
	for from := bufio.NewReader(conn); ; {
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) // a truncated reply would block
		words, err := readCommand(from)
		if err != nil {
			return
		}
		reply := honest(words)
		select {
		case scripted := <-s.replies:
			if len(scripted) > 0 {
				reply = scripted
			}
		default:
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}

func readCommand(from *bufio.Reader) ([]string, error) {
	number := func() int {
		line, _ := from.ReadString('\n')
		if len(line) < 2 {
			return -1
		}
		n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
		return n
	}
	n := number()
	words := make([]string, max(n, 0))
	for i := range words {
		text := make([]byte, max(number()+2, 2))
		if _, err := io.ReadFull(from, text); err != nil {
			return nil, err
		}
		words[i] = string(text[:len(text)-2])
	}
	if n < 1 {
		return nil, io.EOF
	}
	return words, nil
}

func honest(words []string) []byte {
	switch words[0] {
	case "HELLO":
		return []byte("%3\r\n+server\r\n+redis\r\n+version\r\n+7.2.0\r\n+proto\r\n:3\r\n")
	case "CLUSTER":
		return []byte("-ERR This instance has cluster support disabled\r\n")
	case "EVALSHA":
		return []byte("*4\r\n+1-0\r\n+e\r\n+----------------\r\n:1\r\n")
	case "XRANGE":
		return []byte("*0\r\n")
	case "XREAD":
		return []byte("_\r\n")
	case "PING":
		return []byte("+PONG\r\n")
	default:
		return []byte("+OK\r\n")
	}
}

// FuzzReplies requires that no replies of a server end the process: it sends every command of a level through
// the client.
func FuzzReplies(f *testing.F) {
	for _, script := range []string{
		"", "+OK\r\n+OK\r\n", "$-5\r\n", "\xff\xff\xff\xff\xff*4\r\n$-1\r\n$-1\r\n$-1\r\n:1\r\n", "*1000000000\r\n",
		">3\r\n+subscribe\r\n+x\r\n:1\r\n", "\xff*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$1\r\na\r\n:1\r\n",
		"\xff*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$1\r\na\r\n:1\r\n\xff-MOVED 1 b:1\r\n\xff-ASK 1 c:1\r\n",
		"\xff\xff\xff\xff\xff*1\r\n*2\r\n+1-0\r\n*4\r\n+e\r\n+a\r\n+d\r\n+b\r\n",
		"-ERR unknown command 'HELLO'\r\n\xff+OK\r\n", "\xff\xff\xff-NOSCRIPT a\r\n",
		"%1\r\n+modules\r\n*1\r\n%1\r\n+name\r\n$1\r\na\r\n",
		"\xff\xff\xff\xff\xff%1\r\n+x\r\n*1\r\n*2\r\n+1-0\r\n_\r\n",
	} {
		f.Add([]byte(script), false)
		f.Add([]byte(script), true)
	}
	f.Fuzz(func(t *testing.T, script []byte, hasSentinels bool) {
		url := "redis://a:1"
		if hasSentinels {
			url += "?master_set=names"
		}
		l, err := New(Config{
			URL: url, Secret: make([]byte, MinSecret), Prefix: "urnd", Dial: newScripted(script).dial,
			Timeout: 50 * time.Millisecond, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := l.connect(ctx, 0); err != nil {
			return
		}
		l.open.Store(true)
		_ = l.read(ctx, time.Millisecond)
		_, _ = l.lookup(ctx, l.keys("place"), "token", "")
		l.send(ctx, []write{{keys: l.keys("place")[:2]}, {keys: l.keys("place")[:2], token: "token"}})
		_ = l.append(ctx, Purge{Kind: PurgeEverything})
		_ = l.connect(ctx, 1)
		_, _ = NewObjects(ObjectsConfig{
			Level: l, Name: "test", Basis: "1",
			Purged: func(Purge, string) bool { return false },
		}).Get(ctx, "place")
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("it takes too long")
		}
	})
}
