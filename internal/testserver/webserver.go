package testserver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// WebServer is a running nginx, Apache or Varnish. Any goroutine may call its methods.
type WebServer struct {
	dir     string
	addr    netip.AddrPort
	process *process
}

const (
	webConfigFile = "web.conf"
	webOutputFile = "web.out"
	webFolder     = "web" // files written by the server
	webLogFile    = webFolder + "/access.log"
	webErrorFile  = webFolder + "/error.log"
	// webReady is the path of a file that only this server has. Requests for it are not logged.
	webReady = "ready.txt"
)

// webProgram describes how to run a web server.
type webProgram struct {
	path      string
	arguments []string
	// listen is the option for the address, "" if the configuration contains it.
	listen string
	// config returns the configuration for an address and a folder.
	config func(addr netip.AddrPort, dir string) string
}

// startWebServer starts a web server, which ends with the test, as the user nobody. dir is the folder of its
// files, which must be accessible to every user (OpenFolder).
func startWebServer(t testing.TB, dir string, program webProgram) *WebServer {
	t.Helper()
	const attempts = 5
	var last error
	for range attempts {
		addr, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		s, err := launchWebServer(dir, addr, program)
		if err == nil {
			t.Cleanup(func() {
				if err := s.process.stop(); err != nil {
					t.Errorf("%s: %v\n%s", program.path, err, s.output())
				}
			})
			return s
		}
		if last = err; !errors.Is(err, errPortTaken) {
			break
		}
	}
	t.Fatalf("start %s: %v", program.path, last)
	return nil
}

// launchWebServer starts a web server at addr. The error wraps errPortTaken if another process uses the port.
func launchWebServer(dir string, addr netip.AddrPort, program webProgram) (*WebServer, error) {
	s := &WebServer{dir: dir, addr: addr}
	if err := s.write(program.config(addr, dir)); err != nil {
		return nil, err
	}
	arguments := program.arguments
	if program.listen != "" {
		arguments = append(slices.Clone(arguments), program.listen, addr.String())
	}
	cmd := exec.Command(program.path, arguments...)
	if err := asNobody(cmd); err != nil {
		return nil, err
	}
	var err error
	if s.process, err = startCommand(dir, filepath.Join(dir, webOutputFile), cmd); err != nil {
		return nil, err
	}
	err = poll(func() (bool, error) {
		ended, output := s.process.ended(), s.output() // in this order: the output of an ended server is complete
		if strings.Contains(output, "Address already in use") {
			return false, errPortTaken
		}
		return s.isReady(), ended
	})
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, s.output())
		return nil, errors.Join(err, s.process.stop())
	}
	return s, nil
}

// write writes the configuration and creates the folder of the files written by the server.
func (s *WebServer) write(config string) error {
	folder := filepath.Join(s.dir, webFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(folder, 0o777); err != nil { // the user of the server writes there
		return err
	}
	// Remove the output of an earlier attempt.
	if err := os.WriteFile(filepath.Join(s.dir, webOutputFile), nil, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, webReady), []byte(s.dir), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, webConfigFile), []byte(config), 0o644)
}

// isReady reports whether this server, and not another one at its port, responds.
func (s *WebServer) isReady() bool {
	// Another server may not respond.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	response, err := client.Get("http://" + s.Addr() + "/" + webReady)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return err == nil && string(text) == s.dir
}

// output returns the output of the server and its error log, "" for parts that cannot be read.
func (s *WebServer) output() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, webOutputFile)) // only for a message
	log, _ := os.ReadFile(filepath.Join(s.dir, webErrorFile))   // as above
	return string(text) + string(log)
}

// Addr returns the listening address as "127.0.0.1:port".
func (s *WebServer) Addr() string { return s.addr.String() }

// Port returns the port of Addr.
func (s *WebServer) Port() uint16 { return s.addr.Port() }

// Log returns the handled requests as "GET /path 200". The server may write a line after the client has
// received the response: see Wait.
func (s *WebServer) Log(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, webLogFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	return lines[:len(lines)-1]
}
