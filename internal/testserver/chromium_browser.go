package testserver

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// chromiumProcess is a running Chromium, controlled by the Chrome DevTools Protocol through pipes. Each page is
// a session; the messages of all sessions share the pipes and contain the session ID.
type chromiumProcess struct {
	process *process
	dir     string
	in, out *os.File
	reading sync.WaitGroup
	ended   chan struct{} // closed at the end of its output

	users   int // number of tests that share it
	root    *session
	asking  sync.Mutex // held during calls of root
	writing sync.Mutex // guards in and last
	last    int        // ID of the last request

	mu       sync.Mutex
	sessions map[string]*session // by ID; "" is that of the browser
}

// chromiums contains the processes that tests share, by flags. Each starts with the first test that needs it,
// and ends with the last. It is safe for concurrent use.
type chromiums struct {
	mu      sync.Mutex
	running map[string]*chromiumProcess
}

// sharedChromiums returns the processes of this test binary, since tests have no other shared state.
var sharedChromiums = sync.OnceValue(func() *chromiums { //nolint:gochecknoglobals // only used by tests
	return &chromiums{running: make(map[string]*chromiumProcess)}
})

// use returns the process with these flags until the test ends.
func (c *chromiums) use(t testing.TB, flags []string) *chromiumProcess {
	t.Helper()
	key := strings.Join(flags, " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.running[key]
	if p == nil {
		p = startChromiumProcess(t, flags)
		c.running[key] = p
	}
	p.users++
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if p.users--; p.users > 0 {
			return
		}
		delete(c.running, key)
		p.end(t)
	})
	return p
}

// startChromiumProcess starts Chromium. The caller must call end.
func startChromiumProcess(t testing.TB, flags []string) *chromiumProcess {
	t.Helper()
	path := Need(t, "chromium")
	dir, err := os.MkdirTemp("", "chromium") //nolint:usetesting // may outlive the test
	if err != nil {
		t.Fatal(err)
	}
	p := &chromiumProcess{dir: dir, ended: make(chan struct{}), sessions: make(map[string]*session)}
	if err := p.start(path, flags); err != nil {
		_ = os.RemoveAll(dir)
		t.Fatal(err)
	}
	p.root = p.session("")
	p.reading.Go(p.read)
	return p
}

func (p *chromiumProcess) start(path string, flags []string) error {
	theirs, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return err
	}
	defer theirOut.Close()
	cmd := exec.Command(path, slices.Concat([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--disable-component-update", "--no-first-run", "--disable-extensions", "--hide-scrollbars",
		"--disable-features=HttpsUpgrades", "--user-data-dir=" + filepath.Join(p.dir, "profile"),
		"--remote-debugging-pipe",
	}, flags, []string{"about:blank"})...)
	cmd.ExtraFiles = []*os.File{theirs, theirOut} // file descriptors 3 and 4
	if p.process, err = startCommand(p.dir, filepath.Join(p.dir, "log"), cmd); err != nil {
		in.Close()
		out.Close()
		return err
	}
	p.in, p.out = in, out
	return nil
}

// read passes each message to its session until the browser ends.
func (p *chromiumProcess) read() {
	defer close(p.ended)
	for out := bufio.NewReader(p.out); ; {
		text, err := out.ReadBytes(0) // messages end with NUL
		if err != nil {
			return
		}
		var m devtoolsMessage
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			return
		}
		p.mu.Lock()
		s := p.sessions[m.SessionID]
		p.mu.Unlock()
		if s != nil { // it may have ended
			s.add(m)
		}
	}
}

// session returns the session with this ID, whose messages are collected from now on.
func (p *chromiumProcess) session(id string) *session {
	s := &session{process: p, id: id, added: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[id] = s
	return s
}

// forget removes a session, which may be nil.
func (p *chromiumProcess) forget(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s != nil {
		delete(p.sessions, s.id)
	}
}

// write sends a request of a session and returns its ID.
func (p *chromiumProcess) write(m devtoolsMessage) (id int, err error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.last++
	m.ID = p.last
	text, err := json.Marshal(m)
	if err != nil {
		return 0, err
	}
	_, err = p.in.Write(append(text, 0))
	return m.ID, err
}

// send calls a method of the browser itself.
func (p *chromiumProcess) send(method string, params, result any) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	return p.root.ask(method, params, result)
}

// end closes the browser and waits for it.
func (p *chromiumProcess) end(t testing.TB) {
	t.Helper()
	_, _ = p.write(devtoolsMessage{Method: "Browser.close"})
	killed := time.AfterFunc(Timeout, func() { _ = p.process.cmd.Process.Kill() })
	<-p.process.done
	killed.Stop()
	if !p.process.cmd.ProcessState.Success() {
		t.Logf("chromium: %s", p.process.cmd.ProcessState)
	}
	p.in.Close()
	p.out.Close()
	p.reading.Wait()
	_ = os.RemoveAll(p.dir) // in the temporary folder of the system
}
