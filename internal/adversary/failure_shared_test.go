package adversary

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// sharedServers are malicious servers of the second-level cache: each sends the same response to every command.
// urnd must respond as without a second level (docs/scale.md).
func (s *stage) sharedServers() []payload {
	const greeting = "%3\r\n+server\r\n+redis\r\n+version\r\n+7.2.0\r\n+proto\r\n:3\r\n"
	var payloads []payload
	for name, message := range map[string]string{
		"two replies to a question":     "+OK\r\n+OK\r\n",
		"a text of a negative length":   "$-5\r\n",
		"a text of all memory":          "$9223372036854775807\r\n",
		"an array of all memory":        "*4611686018427387904\r\n",
		"an array of 40 GB":             "*1000000000\r\n",
		"an array of a negative length": "*-5\r\n",
		"a map of a negative length":    "%-1\r\n",
		"arrays in arrays":              strings.Repeat("*1\r\n", 1<<20),
		"a line without end":            "+" + strings.Repeat("a", 64<<20),
		"attributes without end":        strings.Repeat("|1\r\n+a\r\n+a\r\n", 1<<20),
		"a subscription":                ">3\r\n+subscribe\r\n+a\r\n:1\r\n",
		"a redirection to nothing":      "-MOVED\r\n",
		"texts in place of numbers":     "*5\r\n+a\r\n+a\r\n+a\r\n+a\r\n+a\r\n",
		"maps in place of texts":        "*5\r\n%0\r\n%0\r\n%0\r\n%0\r\n%0\r\n",
		"a cluster without nodes":       "*1\r\n*3\r\n:0\r\n:16383\r\n*0\r\n",
		"that it is loading":            "-LOADING Redis is loading the dataset in memory\r\n",
		"that it is a replica":          "-READONLY You can't write against a read only replica.\r\n",
		"that it is full":               "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
		"that it is busy":               "-BUSY Redis is busy running a script.\r\n",
		"that it knows no script":       "-NOSCRIPT No matching script. Please use EVAL.\r\n",
		"that nobody may":               "-NOPERM this user has no permissions to run the 'evalsha' command\r\n",
		"that all keys are elsewhere":   "-MOVED 1 127.0.0.1:1\r\n",
		"that nothing is there":         "_\r\n",
		"nonsense":                      strings.Repeat("\xff\x00", 1000),
		"nothing":                       "",
	} {
		for when, first := range map[string]string{"at once": "", "after the greeting": greeting} {
			payloads = append(payloads, payload{
				name: name + ", " + when, section: "RESP3 specification", shows: message,
				play: func(ctx context.Context) error { return s.survivesShared(ctx, first, message) },
			})
		}
	}
	return inFamily("second level", payloads)
}

// survivesShared runs a daemon whose second-level server sends first, unless that is "", and then says
// repeatedly.
func (s *stage) survivesShared(ctx context.Context, first, message string) error {
	key := filepath.Join(s.directory, s.id())
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		return err
	}
	server, err := newLyingServer(first, message)
	if err != nil {
		return err
	}
	defer server.close()
	d, err := s.start(ctx, "URND_CACHE_SHARED=redis://"+server.listener.Addr().String(), "URND_CACHE_SHARED_KEY="+key)
	if err != nil {
		return err
	}
	for requested := 0; requested < 3; {
		select {
		case <-server.requested:
			requested++
		case <-ctx.Done():
			return fmt.Errorf("it does not ask the server: %s", d.lastLines())
		}
	}
	return errors.Join(d.answers(ctx), d.below(300), d.stop(ctx))
}

// lyingServer is a server that sends the same on each connection.
type lyingServer struct {
	listener  net.Listener
	requested chan struct{} // a value for each command, up to a limit
	running   sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func newLyingServer(first, message string) (*lyingServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &lyingServer{listener: listener, requested: make(chan struct{}, 100)}
	l.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			l.mu.Lock()
			l.conns = append(l.conns, conn)
			l.mu.Unlock()
			l.running.Go(func() { l.lie(conn, first, message) })
		}
	})
	return l, nil
}

// lie responds to any input.
func (l *lyingServer) lie(conn net.Conn, first, message string) {
	defer conn.Close()
	buffer := make([]byte, 4096)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
		text := message
		if first != "" {
			text, first = first, ""
		}
		select {
		case l.requested <- struct{}{}:
		default:
		}
		if _, err := conn.Write([]byte(text)); err != nil {
			return
		}
	}
}

func (l *lyingServer) close() {
	_ = l.listener.Close()
	l.mu.Lock()
	for _, conn := range l.conns {
		_ = conn.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
}
