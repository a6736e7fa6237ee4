package testserver

import (
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"testing"
)

// varnishConfig is in VCL (vcl(7)); what it answers itself says that this server is ready.
const varnishConfig = `vcl 4.1;
%s
sub vcl_recv {
	if (req.url == "/%s") { return (synth(200)); }
}
sub vcl_synth {
	if (req.url == "/%[2]s") { set resp.body = "%[3]s"; return (deliver); }
}
`

// StartVarnish starts Varnish, a cache in front of web servers, with text in VCL, which has backends and may
// have subroutines. Varnish compiles it in dir, a folder that every user can enter (OpenFolder). It stops at
// the end of the test.
func StartVarnish(t testing.TB, dir, vcl string) *WebServer {
	t.Helper()
	path := Need(t, "varnishd")
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("Varnish needs a compiler: %v", err)
	}
	return startWebServer(t, dir, webProgram{
		path: path, listen: "-a",
		arguments: []string{
			"-F", "-j", "none", "-n", filepath.Join(dir, webFolder), "-f", filepath.Join(dir, webConfigFile), "-s", "malloc,256m",
			"-p", "cc_command=exec cc -w -fpic -shared -o %o %s", // Debian's own optimizes, which takes long
		},
		config: func(_ netip.AddrPort, dir string) string { return fmt.Sprintf(varnishConfig, vcl, webReady, dir) },
	})
}
