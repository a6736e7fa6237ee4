package testserver

import (
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"testing"
)

// varnishConfig is in VCL (vcl(7)). Its synthetic response shows that this server is ready.
const varnishConfig = `vcl 4.1;
%s
sub vcl_recv {
	if (req.url == "/%s") { return (synth(200)); }
}
sub vcl_synth {
	if (req.url == "/%[2]s") { set resp.body = "%[3]s"; return (deliver); }
}
`

// StartVarnish starts Varnish, a cache in front of web servers, with text in VCL, which must contain backends
// and may contain subroutines. Varnish compiles it in dir, a folder accessible to every user (OpenFolder). It
// stops at the end of the test.
func StartVarnish(t testing.TB, dir, vcl string) *WebServer {
	t.Helper()
	path := Need(t, "varnishd")
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("Varnish needs a compiler: %v", err)
	}
	return startWebServer(t, dir, webProgram{
		path: path, listen: "-a",
		arguments: []string{
			"-F", "-j", "none", "-n", filepath.Join(dir, webFolder), "-f", filepath.Join(dir, webConfigFile), "-s",
			"malloc,256m",
			"-p", "cc_command=exec cc -w -fpic -shared -o %o %s", // without the slow optimization of Debian's default
		},
		config: func(_ netip.AddrPort, dir string) string { return fmt.Sprintf(varnishConfig, vcl, webReady, dir) },
	})
}
