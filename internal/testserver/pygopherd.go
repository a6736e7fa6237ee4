package testserver

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Pygopherd is a running pygopherd, a gopher server with Gopher+.
type Pygopherd struct {
	addr    netip.AddrPort
	output  string // file with its output
	process *process
}

// pygopherdConfig permits several servers side by side. Its parameters are the address, the folder of the
// files, and the file with the media types.
const pygopherdConfig = `[pygopherd]
servername = 127.0.0.1
interface = 127.0.0.1
port = %d
root = %s
mimetypes = %s
detach = no
usechroot = no
enable_tls = no
servertype = ForkingTCPServer
timeout = 60
tracebacks = no
abstract_headers = on
abstract_entries = unsupported
encoding = []
[logger]
logmethod = file
[GopherEntry]
defaultmimetype = text/plain
mapping = [['text/html', 'h'], ['text/.+', '0'], ['image/gif', 'g'], ['image/.+', 'I'],
	['application/gopher-menu', '1'],
	['application/gopher\\+-menu', '1'], ['application/.+', '9'], ['.*', '0']]
eaexts = {'.abstract': 'ABSTRACT', '.keywords': 'KEYWORDS', '.ask': 'ASK'}
[handlers.HandlerMultiplexer]
handlers = [url.HTMLURLHandler, gophermap.BuckGophermapHandler, UMN.UMNDirHandler,
	scriptexec.ExecHandler, file.FileHandler]
[handlers.dir.DirHandler]
ignorepatt = \.abstract$|\.keywords$|\.ask$|/gophermap$
cachetime = 0
cachefile = .cache
[handlers.UMN.UMNDirHandler]
extstrip = none
[handlers.ZIP.ZIPHandler]
enabled = false
pattern = \.zip$
[protocols.ProtocolMultiplexer]
protocols = [gopherp.GopherPlusProtocol, rfc1436.GopherProtocol]
[protocols.gopherp.GopherPlusProtocol]
admin = Tester <tester@example.org>
`

const pygopherdTypes = `text/plain txt
text/html html
image/gif gif
application/octet-stream bin
application/pdf pdf
`

// StartPygopherd serves the files of a folder accessible to every user (OpenFolder) with pygopherd. It ends
// with the test.
func StartPygopherd(t testing.TB, dir string) *Pygopherd {
	t.Helper()
	path := Need(t, "pygopherd")
	own := OpenFolder(t)
	const attempts = 5
	var last error
	for range attempts {
		addr, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		p, err := launchPygopherd(path, dir, own, addr)
		if err == nil {
			t.Cleanup(func() {
				if err := p.end(); err != nil {
					t.Errorf("pygopherd: %v\n%s", err, p.log())
				}
			})
			return p
		}
		if last = err; !errors.Is(err, errPortTaken) {
			break
		}
	}
	t.Fatalf("start pygopherd: %v", last)
	return nil
}

// launchPygopherd starts pygopherd at addr with its files in own. The error wraps errPortTaken if another
// process uses the port.
func launchPygopherd(path, dir, own string, addr netip.AddrPort) (*Pygopherd, error) {
	p := &Pygopherd{addr: addr, output: filepath.Join(own, addr.String()+".out")}
	types, config := filepath.Join(own, "mime.types"), filepath.Join(own, "pygopherd.conf")
	if err := os.WriteFile(types, []byte(pygopherdTypes), 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, pygopherdConfig, addr.Port(), dir, types), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command(path, config)
	if err := asNobody(cmd); err != nil {
		return nil, err
	}
	var err error
	if p.process, err = startCommand(own, p.output, cmd); err != nil {
		return nil, err
	}
	err = poll(func() (bool, error) {
		ended, output := p.process.ended(), p.log() // in this order: the output of an ended server is complete
		if strings.Contains(output, "Address already in use") {
			return false, errPortTaken
		}
		return strings.Contains(output, "Running."), ended
	})
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, p.log())
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

// Addr returns the listening address as "127.0.0.1:port".
func (p *Pygopherd) Addr() string { return p.addr.String() }

// log returns its output, "" if that cannot be read.
func (p *Pygopherd) log() string {
	text, _ := os.ReadFile(p.output) // only for a message
	return string(text)
}

// end stops it. It exits with its own status.
func (p *Pygopherd) end() error {
	const stopped = 6
	err := p.process.stop()
	if state := p.process.cmd.ProcessState; state != nil && state.ExitCode() == stopped {
		return nil
	}
	return err
}
