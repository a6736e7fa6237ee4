//go:build e2e

package machines

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestLimitOfOpenFiles checks that the error at the limit of open files names the limit and the settings for
// it.
func TestLimitOfOpenFiles(t *testing.T) {
	t.Parallel()
	l := newFileDaemon(t)
	l.run(t, exec.Command("/bin/sh", "-c", `ulimit -n 40; exec "$0" serve --config "$1"`, urndtest.Binary(t), l.file))
	l.ready(t)
	for range 60 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	testserver.Wait(t, "the log names the limit", func() bool {
		return l.logged("too many open files: the limit of open files and connections is 40: raise LimitNOFILE in "+
			"the systemd unit") > 0
	})
}
