package ftp

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// fake is a scripted server.
type fake struct {
	listen    func() (net.Listener, error)
	requested func(name string)
	body      func() io.Reader
	names     []string
	data      map[string]string    // by verb, such as "MLSD": listing in place of names
	slow      func(command string) // called before each reply
	tls       *tls.Config          // for AUTH
	passive   bool                 // PASV is supported
	replies   map[string]string    // by command, "RETR a", or by verb, "RETR"; "" closes the connection
	end       string               // reply at the end of a transfer; "" is 226, "close" closes the connection

	mu       sync.Mutex
	commands []string
	control  net.Conn // latest control connection
}

// stray sends an unsolicited reply.
func (f *fake) stray(t *testing.T, reply string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := io.WriteString(f.control, reply+"\r\n"); err != nil {
		t.Fatal(err)
	}
}

func (f *fake) log(command string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commands = append(f.commands, command)
}

// sent returns the commands received so far.
func (f *fake) sent() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.commands, "\n")
}

// serve serves one control connection.
func (f *fake) serve(conn net.Conn) {
	defer conn.Close()
	f.mu.Lock()
	f.control = conn
	f.mu.Unlock()
	var data net.Listener
	defer func() {
		if data != nil {
			data.Close()
		}
	}()
	in := bufio.NewReader(conn)
	greeting, ok := f.replies["greeting"]
	if !ok {
		greeting = "220 ready"
	}
	for line := greeting; ; {
		if line != "" {
			line += "\r\n"
		}
		if _, err := io.WriteString(conn, line); err != nil {
			return
		}
		text, err := in.ReadString('\n')
		if err != nil {
			return
		}
		command := strings.TrimRight(text, "\r\n")
		f.log(command)
		if f.slow != nil {
			f.slow(command)
		}
		verb, argument, _ := strings.Cut(command, " ")
		scripted, ok := f.replies[command]
		if !ok {
			scripted, ok = f.replies[verb]
		}
		switch {
		case ok && scripted == "":
			return
		case verb == "AUTH" && f.tls != nil:
			if _, err := io.WriteString(conn, "234 go\r\n"); err != nil {
				return
			}
			conn = tls.Server(conn, f.tls)
			in, line = bufio.NewReader(conn), ""
		case ok:
			line = scripted
		case verb == "EPSV", verb == "PASV" && f.passive:
			if data != nil {
				data.Close()
			}
			if data, err = f.listen(); err != nil {
				return
			}
			port := data.Addr().(*net.TCPAddr).Port
			line = fmt.Sprintf("229 here (|||%d|)", port)
			if verb == "PASV" {
				line = fmt.Sprintf("227 here (192,0,2,1,%d,%d)", port>>8, port&0xff)
			}
		case verb == "RETR", verb == "LIST", f.data[verb] != "":
			if verb == "RETR" && f.requested != nil {
				f.requested(argument)
			}
			if line = f.transfer(conn, data, verb); line == "close" {
				return
			}
		case verb == "CWD" && strings.Contains(argument, "."):
			line = "550 not a directory"
		default:
			line = f.answer(verb)
		}
	}
}

// answer returns the reply to a command without data.
func (*fake) answer(verb string) string {
	switch verb {
	case "USER":
		return "331 password"
	case "PASS":
		return "230 welcome"
	case "CWD", "TYPE":
		return "250 done"
	case "PWD":
		return `257 "/" is it`
	case "REST":
		return "350 go on"
	default:
		return "502 unknown"
	}
}

func (f *fake) transfer(conn net.Conn, data net.Listener, verb string) string {
	if data == nil {
		return "425 no data connection"
	}
	if _, err := io.WriteString(conn, "150 here it comes\r\n"); err != nil {
		return "close"
	}
	to, err := data.Accept()
	if err != nil {
		return "close"
	}
	defer to.Close()
	if verb == "RETR" {
		_, err = io.Copy(to, f.body())
	} else if text, ok := f.data[verb]; ok {
		_, err = io.WriteString(to, text)
	} else {
		for _, name := range f.names {
			if _, err = io.WriteString(to, "-rw-r--r-- 1 ftp ftp 7 Jan 02 2006 "+name+"\r\n"); err != nil {
				break
			}
		}
	}
	if err != nil {
		return "close"
	}
	if f.end != "" {
		return f.end
	}
	return "226 all sent"
}

// start serves until the end of the test, and returns the address.
func (f *fake) start(t testing.TB) string {
	t.Helper()
	listen := func() (net.Listener, error) { return net.Listen("tcp4", "127.0.0.1:0") }
	if f.listen == nil {
		f.listen = listen
	}
	if f.body == nil {
		f.body = func() io.Reader { return strings.NewReader("0123456789") }
	}
	listener, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	conns := []net.Conn{}
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		wait.Wait()
	})
	wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			wait.Go(func() { f.serve(conn) })
		}
	})
	return listener.Addr().String()
}
