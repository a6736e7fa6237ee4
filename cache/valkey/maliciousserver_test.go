package valkey_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// lie returns the bytes that a liar sends instead of the reply to a command. nil closes the connection.
type lie func(command []string, reply string) []byte

// liar is a proxy in front of a server that can falsify replies: it forwards each command, and sends the result
// of its lie.
type liar struct {
	t        testing.TB
	listener net.Listener
	to       string

	mu    sync.Mutex
	lie   lie // nil for true replies
	lies  int // number of lies sent
	conns map[net.Conn]bool
	most  int // maximum number of concurrent connections
	done  sync.WaitGroup
}

// startLiar starts a liar on a listener in front of a server. It ends with the test.
func startLiar(t testing.TB, listener net.Listener, to string) *liar {
	t.Helper()
	l := &liar{t: t, listener: listener, to: to, conns: make(map[net.Conn]bool)}
	l.done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			l.done.Go(func() { l.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut()
		l.done.Wait()
	})
	return l
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// addr returns its address, on loopback.
func (l *liar) addr() string {
	return fmt.Sprintf("127.0.0.1:%d", l.listener.Addr().(*net.TCPAddr).Port)
}

// say sets the lie for the following replies; nil sends true replies.
func (l *liar) say(lie lie) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lie, l.lies = lie, 0
}

func (l *liar) said() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lies
}

func (l *liar) mostConns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.most
}

// cut closes all connections.
func (l *liar) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		_ = conn.Close()
	}
}

func (l *liar) add(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range conns {
		l.conns[conn] = true
	}
	l.most = max(l.most, len(l.conns)/2)
}

func (l *liar) remove(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
		delete(l.conns, conn)
	}
}

func (l *liar) serve(conn net.Conn) {
	server, err := net.Dial("tcp", l.to)
	if err != nil {
		_ = conn.Close()
		return
	}
	l.add(conn, server)
	defer l.remove(conn, server)
	requested, answered := bufio.NewReader(conn), bufio.NewReader(server)
	for {
		text, words, err := readMessage(requested)
		if err != nil {
			return
		}
		if _, err := server.Write(text); err != nil {
			return
		}
		reply, _, err := readMessage(answered)
		if err != nil {
			return
		}
		l.mu.Lock()
		lie := l.lie
		l.mu.Unlock()
		if lie != nil {
			reported := lie(words, string(reply))
			l.mu.Lock()
			if !bytes.Equal(reported, reply) {
				l.lies++
			}
			l.mu.Unlock()
			if reply = reported; reply == nil {
				return
			}
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}

// readMessage reads a message, and returns its bytes and its texts.
func readMessage(from *bufio.Reader) (data []byte, texts []string, err error) {
	line, err := from.ReadString('\n')
	if err != nil || len(line) < 3 {
		return nil, nil, fmt.Errorf("reading %q: %w", line, io.ErrUnexpectedEOF)
	}
	data = []byte(line)
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '%':
		n *= 2
	case '$':
		text := make([]byte, max(n+2, 0))
		_, err = io.ReadFull(from, text)
		return append(data, text...), []string{string(text[:max(n, 0)])}, err
	case '*', '~', '>':
	default:
		return data, nil, nil
	}
	for range n {
		more, found, err := readMessage(from)
		if err != nil {
			return nil, nil, err
		}
		data, texts = append(data, more...), append(texts, found...)
	}
	return data, texts, nil
}
