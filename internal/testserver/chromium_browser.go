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

// chromiumProcess is a running Chromium, which is asked by the Chrome DevTools Protocol through pipes. Each page is a session of its own:
// the messages of all go through the same pipes, with the id of the session in each.
type chromiumProcess struct {
	process *process
	dir     string
	in, out *os.File
	reading sync.WaitGroup
	ended   chan struct{} // closed where nothing more comes

	users   int // tests that share it
	root    *session
	asking  sync.Mutex // held while root is asked
	writing sync.Mutex // of in and last
	last    int        // id of a request

	mu       sync.Mutex
	sessions map[string]*session // by their ids, "" of that of the browser
}

// chromiums are the processes that tests share, by their flags. Each starts with the first test that needs it, and ends with the last one
// that does. It is safe for concurrent use.
type chromiums struct {
	mu      sync.Mutex
	running map[string]*chromiumProcess
}

// sharedChromiums returns those of the tests of this process: tests have nothing else that all of them could pass on.
var sharedChromiums = sync.OnceValue(func() *chromiums { //nolint:gochecknoglobals // of tests
	return &chromiums{running: make(map[string]*chromiumProcess)}
})

// use returns the process with some flags, until the test ends.
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

// startChromiumProcess starts Chromium. end must follow.
func startChromiumProcess(t testing.TB, flags []string) *chromiumProcess {
	t.Helper()
	path := Need(t, "chromium")
	dir, err := os.MkdirTemp("", "chromium") //nolint:usetesting // it may outlive the test
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
		"--disable-component-update", "--no-first-run", "--disable-extensions", "--hide-scrollbars", "--disable-features=HttpsUpgrades",
		"--user-data-dir=" + filepath.Join(p.dir, "profile"), "--remote-debugging-pipe",
	}, flags, []string{"about:blank"})...)
	cmd.ExtraFiles = []*os.File{theirs, theirOut} // descriptors 3 and 4
	if p.process, err = startCommand(p.dir, filepath.Join(p.dir, "log"), cmd); err != nil {
		in.Close()
		out.Close()
		return err
	}
	p.in, p.out = in, out
	return nil
}

// read gives each message to the session that it is for, until the browser ends.
func (p *chromiumProcess) read() {
	defer close(p.ended)
	for out := bufio.NewReader(p.out); ; {
		text, err := out.ReadBytes(0) // which ends each message
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

// session returns the session of an id, whose messages are kept from now on.
func (p *chromiumProcess) session(id string) *session {
	s := &session{process: p, id: id, added: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[id] = s
	return s
}

// forget drops a session, which may be nil.
func (p *chromiumProcess) forget(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s != nil {
		delete(p.sessions, s.id)
	}
}

// write sends a request of a session, and returns its id.
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

// ask asks the browser itself.
func (p *chromiumProcess) ask(method string, params, result any) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	return p.root.ask(method, params, result)
}

// end closes the browser, and waits for it.
func (p *chromiumProcess) end(t testing.TB) {
	t.Helper()
	_, _ = p.write(devtoolsMessage{Method: "Browser.close"})
	killed := time.AfterFunc(Patience, func() { _ = p.process.cmd.Process.Kill() })
	<-p.process.done
	killed.Stop()
	if !p.process.cmd.ProcessState.Success() {
		t.Logf("chromium: %s", p.process.cmd.ProcessState)
	}
	p.in.Close()
	p.out.Close()
	p.reading.Wait()
	_ = os.RemoveAll(p.dir) // of the system's temporary files
}
