package nntp_test

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/resolver/scheme/nntp"
)

// reader is a server for readers that records its connections.
type reader struct {
	nntp.Server
	replies map[string]string // by prefix of a command; a reply that ends with a NUL closes the connection
	broken  map[string]string // replies on the first connection, once set
	most    int               // maximum connections, others are greeted by full; 0 is no limit, negative is none
	full    string

	mu    sync.Mutex
	conns []net.Conn
	open  int
	sent  []string // commands of all connections, in order
}

func (s *reader) start(t *testing.T) *reader {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = l.Addr().String()
	var running sync.WaitGroup
	t.Cleanup(func() { l.Close(); s.closeAll(); running.Wait() })
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { s.answer(conn) })
		}
	})
	return s
}

func (s *reader) answer(conn net.Conn) {
	defer conn.Close()
	s.mu.Lock()
	s.open++
	isFull := s.most < 0 || s.most > 0 && s.open > s.most
	s.conns = append(s.conns, conn)
	number := len(s.conns)
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.open--; s.mu.Unlock() }()
	if isFull {
		io.WriteString(conn, s.full+"\r\n")
		return
	}
	io.WriteString(conn, "200 hello\r\n")
	for lines := bufio.NewScanner(conn); lines.Scan() && lines.Text() != "QUIT"; {
		reported, ends := strings.CutSuffix(s.reply(number, lines.Text()), "\x00")
		if ends {
			io.WriteString(conn, reported)
			return
		}
		// Immediately: the client does not wait for the end of an article that it has not read completely.
		io.WriteString(conn, reported+"\r\n")
	}
}

func (s *reader) reply(number int, command string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, command)
	replies := s.replies
	if number == 1 && s.broken != nil {
		replies = s.broken
	}
	for begin := command; begin != ""; begin = begin[:len(begin)-1] {
		if reply, ok := replies[begin]; ok {
			return reply
		}
	}
	switch word, _, _ := strings.Cut(command, " "); word {
	case "CAPABILITIES":
		return "101 these\r\nVERSION 2\r\nREADER\r\nOVER\r\nAUTHINFO USER\r\n."
	case "DATE":
		return "111 20261123120000"
	case "GROUP":
		return "211 1 1 1 g"
	case "OVER":
		return "224 these\r\n1\tone\tf\td\t<1@h>\t\t5\t1\r\n."
	case "ARTICLE":
		return "220 0 <a@b>\r\nSubject: s\r\n\r\ntext\r\n."
	case "AUTHINFO":
		return "281 welcome"
	}
	return "500 what?"
}

// breakFirst replaces the replies on the first connection.
func (s *reader) breakFirst(replies map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = replies
}

// accepted returns the number of accepted connections.
func (s *reader) accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// closeAll closes all connections.
func (s *reader) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
}

func (s *reader) commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}
